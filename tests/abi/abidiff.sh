#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# abidiff.sh SOURCE_DIR PLUGIN SURFACE: compares the debug information of the plugin, and of surface.c for types that the plugin does not export, with
# the golden dumps of each version; only fields that were appended since may differ. Then it compiles surface.c with broken headers, to test that each
# break is found. Prints TAP.
set -u
source=$1 plugin=$2 surface=$3
golden=$source/abi/golden
count=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

report() { # WHAT GOOD(0 or 1) [OUTPUT]
  count=$((count + 1))
  if [ "$2" -eq 1 ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    printf '%s\n' "${3:-}" | head -n 60 | sed 's/^/# /'
    failed=1
  fi
}

# Prints the differences. Succeeds if the only differences are new fields after the last field of a struct that do not use former padding (an old
# program may have left any value there). abidiff has a suppression for that, has_data_member_inserted_at = end, but with it version 2.2 also accepts
# changed types in structs without new fields.
compare() { # OLD NEW
  local output status
  output=$(abidiff --leaf-changes-only --no-added-syms "$1" "$2" 2>&1)
  status=$?
  printf '%s\n' "$output"
  [ $((status & 3)) -eq 0 ] || return 1 # abidiff itself failed
  [ $status -eq 0 ] || only_growth <<<"$output"
}

only_growth() {
  awk '
    /^$/ || /^[A-Za-z\/ ]*summary: / { next }
    /^.struct [a-z_]+( at [a-z]+\.h:[0-9]+:[0-9]+)?. changed:$/ { size = -1; structs++; next }
    /^  type size changed from [0-9]+ to [0-9]+ \(in bits\)$/ { size = $5; next }
    /^  [0-9]+ data member insertions?:$/ { next }
    /^    .*, at offset [0-9]+ \(in bits\)/ {
      offset = $0; sub(/.*, at offset /, "", offset)
      if (size < 0 || offset + 0 < size + 0) bad = 1
      next
    }
    { bad = 1 }
    END { exit bad || !structs }'
}

# Without debug information abidiff compares only names of symbols, and all plugins seem equal.
described() { # OBJECT STRUCT: is the struct in the debug information?
  readelf -S -W "$1" | grep -q '\.debug_info' && abidw --no-corpus-path --no-comp-dir-path "$1" 2>/dev/null | grep -q "class-decl name='$2' .*size-in-bits='[1-9]"
}

for object in "$plugin" "$surface"; do
  described "$object" tidings_reply
  report "$(basename "$object") has debug information of the contract" $((1 - $?))
done

for dump in "$golden"/tidings-*.abi; do
  output=$(compare "$dump" "$plugin")
  report "tidings.so is as in $(basename "$dump")" $((! $?)) "$output"
done
for dump in "$golden"/surface-*.abi; do
  output=$(compare "$dump" "$surface")
  report "the headers are as in $(basename "$dump")" $((! $?)) "$output"
done

hostkit=$work/hostkit.so
"$source/tests/abi/hostkit_surface.sh" "$source/hostkit/include" "$hostkit" && described "$hostkit" hostkit_options
report "the surface of hostkit.h has debug information" $((! $?))
for dump in "$golden"/hostkit-*.abi; do
  output=$(compare "$dump" "$hostkit")
  report "hostkit.h is as in $(basename "$dump")" $((! $?)) "$output"
done

doctored() { # NAME FILE SED-PROGRAM: the surface with one change in the headers
  cp -r "$source/abi/tidings" "$work/tidings"
  sed -i "$3" "$work/tidings/$2"
  if cmp -s "$source/abi/tidings/$2" "$work/tidings/$2"; then
    echo "the change \"$1\" does not apply to $2 any more"
    rm -rf "$work/tidings"
    return 1
  fi
  cc -g -shared -fPIC -fvisibility=hidden -I "$work" "$source/tests/abi/surface.c" -o "$work/$1.so"
  local status=$?
  rm -rf "$work/tidings"
  return $status
}

found() { # NAME FILE SED-PROGRAM: a break must be found
  local output
  if output=$(doctored "$1" "$2" "$3"); then
    compare "$golden/surface-1.0.abi" "$work/$1.so" >/dev/null
    report "a break is found: $1" $(($? != 0))
  else
    report "a break is found: $1" 0 "$output"
  fi
}

found changed_type reply.h 's/  uint64_t delivery_id; /  uint32_t delivery_id; /'
found inserted_field reply.h 's/  uint64_t delivery_id; /  uint64_t inserted;\n&/'
found removed_field entry.h 's/^  struct tidings_span host_name;.*//'
found swapped_fields plugin.h 's/  uint32_t outcome;.*/  uint64_t delivery_id;/; s/  uint64_t delivery_id; .*/  uint32_t outcome;/'
found changed_parameter plugin.h 's/const struct tidings_span \*event,/const char *event,/'
found behind_an_extension query.h 's/const struct tidings_span \*request,/const char *request,/'
found a_result wake.h 's/  int32_t (\*descriptor)/  int64_t (*descriptor)/'

found_in_hostkit() { # NAME SED-PROGRAM
  mkdir -p "$work/$1/include/tidings"
  ln -sfn "$source/abi" "$work/abi"
  sed "$2" "$source/hostkit/include/tidings/hostkit.h" >"$work/$1/include/tidings/hostkit.h"
  if cmp -s "$source/hostkit/include/tidings/hostkit.h" "$work/$1/include/tidings/hostkit.h"; then
    report "a break of hostkit.h is found: $1" 0 "the change does not apply to hostkit.h any more"
  elif "$source/tests/abi/hostkit_surface.sh" "$work/$1/include" "$work/$1.so"; then
    compare "$golden/hostkit-1.0.abi" "$work/$1.so" >/dev/null
    report "a break of hostkit.h is found: $1" $(($? != 0))
  else
    report "a break of hostkit.h is found: $1" 0 "the changed header does not compile"
  fi
}

found_in_hostkit flat_parameter 's/hostkit_flat_call(int64_t handle,/hostkit_flat_call(int32_t handle,/'
found_in_hostkit flat_result 's/^HOSTKIT_API int64_t hostkit_flat_open/HOSTKIT_API int32_t hostkit_flat_open/'
found_in_hostkit removed_function '/^HOSTKIT_API const char \*hostkit_flat_error(void);/d'
found_in_hostkit inserted_member 's/^struct hostkit_notification {/&\n  uint64_t inserted;/'

output=$(doctored appended_field reply.h 's/^  struct tidings_span ledger;.*/&\n  uint64_t appended;/')
if [ $? -eq 0 ]; then
  output=$(compare "$golden/surface-1.0.abi" "$work/appended_field.so")
  report "an appended field is not a break" $((! $?)) "$output"
else
  report "an appended field is not a break" 0 "$output"
fi
echo "1..$count"
exit $failed
