# SPDX-License-Identifier: MIT
# Sourced by run.sh: the package for Python.
export PYTHONPATH=$bindings/python
example=(python3 "$bindings/python/examples/host.py")
# shellcheck disable=SC2034 # run.sh uses it
driver=(python3 "$bindings/python/tests/conformance_host.py")

package_install() {
  unset PYTHONPATH
  python3 -m pip --version >/dev/null 2>&1 || skip "Python has no pip"
  python3 -m pip wheel --quiet --no-deps --no-index --disable-pip-version-check -w "$work/wheels" "$bindings/python" &&
    python3 -m pip install --quiet --no-deps --no-index --disable-pip-version-check --target "$work/installed" "$work"/wheels/tidings-*.whl || return 1
  export PYTHONPATH=$work/installed
  [ -f "$work/installed/tidings/py.typed" ]
}
