// SPDX-License-Identifier: MIT
//! A whole host in Rust: a notification is pushed, delivered with a tool's result, and settled; then the host sleeps until another process wakes it with
//! a notification. cargo run --example host -- [TIDINGS.SO STORE]
use std::future::Future;
use std::io::Write;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use tidings::{Delivery, Error, Level, Notify, Options, Outcome, Tidings, ToolResult};

/// The smallest executor: any other polls the same futures.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = Box::pin(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// On an error a host sends the result unchanged. An agent sends each part as the message or block of its voice; here all go to standard output.
fn show_result(kit: &Tidings, content: &str) -> Result<(), Error> {
    let delivery = kit
        .tool_result(&ToolResult {
            session: "s",
            call_id: "c1",
            tool: "ls",
            content,
            room: 0,
        })
        .unwrap_or_else(|error| {
            eprintln!("{error}");
            Delivery::unchanged(content)
        });
    let text: String = delivery
        .outgoing
        .iter()
        .map(|part| part.text.as_str())
        .collect();
    let mut stdout = std::io::stdout();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .is_ok(); // to the model, and into the transcript with the delivery's id
    if let Some(id) = delivery.reply.delivery_id {
        kit.settle(
            id,
            if written {
                Outcome::Committed
            } else {
                Outcome::RolledBack
            },
        )?;
    }
    Ok(())
}

/// Sleeps until something urgent is pushed, and says what to do then.
async fn act_once(kit: &Arc<Tidings>) -> Result<(), Error> {
    let mut wakes = kit.wakes()?;
    println!("waiting");
    loop {
        let woken = wakes.next().await?;
        for action in &woken.reply.actions {
            let content = action
                .messages
                .first()
                .map_or("", |message| &message.content);
            println!(
                "session {}: {}: {content}",
                woken.session,
                action.kind.word()
            );
        }
        if !woken.reply.actions.is_empty() {
            return Ok(());
        }
    }
}

fn run(plugin: Option<String>, store: Option<String>) -> Result<(), Error> {
    let kit = Arc::new(Tidings::open(&Options {
        plugin,
        store,
        host_name: Some("Example".into()),
        ..Options::default()
    })?);
    kit.event(
        "s",
        r#"{"type": "session.opened", "session": "s", "data": {"host": "example"}}"#,
    )?;
    kit.push(&Notify {
        text: "The build failed.",
        level: Level::Error,
        ..Notify::new("s", "tool.failed")
    })?;
    show_result(&kit, "a.c\n")?;
    block_on(act_once(&kit))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    if let Err(error) = run(arguments.next(), arguments.next()) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
