"""Write the output of every command of the console blocks into the pages that show it.

Run it after a change of what the commands print, and read the difference.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def rerun(block: re.Match[str]) -> str:
    """The block with fresh outputs."""
    parts = re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]
    commands = [part.partition("\n")[0] for part in parts]
    outputs = [
        subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        ).stdout
        for command in commands
    ]
    shown = (f"$ {command}\n{output}" for command, output in zip(commands, outputs, strict=True))
    return "```console\n" + "".join(shown) + "```"


def main() -> None:
    """Rewrite the pages."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        before = page.read_text()
        after = BLOCK.sub(rerun, before)
        if after != before:
            page.write_text(after)
            print(f"updated {page.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
