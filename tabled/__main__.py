"""``python -m tabled``: the same as the ``tabled`` command."""

from tabled.shell.cli import main

if __name__ == "__main__":
    main(prog_name="tabled")
