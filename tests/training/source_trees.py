"""A small project in several languages, and ways to pack it."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

PYTHON = '''"""Keeps sessions of users between two requests."""

import time


class SessionStore:
    """Holds every session until it was not used for an hour."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.kept: dict[str, float] = {}

    def renew_session(self, token: str) -> float:
        """Moves the end of a session to an hour from now."""
        if token not in self.kept:
            raise KeyError("no session with such a token is open")
        self.kept[token] = time.time() + self.seconds
        return self.kept[token]


def expired_sessions(store: SessionStore, now: float) -> list[str]:
    """Lists the tokens of all sessions that ended before a moment."""
    return [token for token, end in store.kept.items() if end < now]
'''

TYPESCRIPT = """/** Prices of carts in whole cents. */
export class CartPrice {
  constructor(private readonly cents: number[]) {}

  /** Adds up the prices of everything that lies in the cart. */
  total(): number {
    return this.cents.reduce((sum, price) => sum + price, 0);
  }

  /** Takes a share in percent off the whole cart. */
  discounted(percent: number): number {
    if (percent < 0 || percent > 100) {
      throw new Error("a discount has to be between nothing and everything");
    }
    return Math.round(this.total() * (1 - percent / 100));
  }
}
"""

GO = """package queue

import "errors"

// Queue hands out jobs in the order in which they came.
type Queue struct {
	jobs []string
}

// TakeJob removes the oldest job from the queue and returns it.
func (q *Queue) TakeJob() (string, error) {
	if len(q.jobs) == 0 {
		return "", errors.New("there is no job left in the queue")
	}
	first := q.jobs[0]
	q.jobs = q.jobs[1:]
	return first, nil
}
"""

RUST = """//! Reads settings from lines of text.

/// Splits a line at its first equals sign into a name and a value.
pub fn split_setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    if name.trim().is_empty() {
        return None;
    }
    Some((name.trim(), value.trim()))
}
"""

RUBY = """# Writes reports about sales for the people who asked for them.
class SalesReport
  # Sums the sales of every month of one year.
  def monthly_totals(sales)
    sales.group_by { |sale| sale.date.month }.transform_values do |some|
      some.sum(&:amount)
    end
  end
end
"""

FILES: Mapping[str, str] = {
    "src/sessions.py": PYTHON,
    "web/cart.ts": TYPESCRIPT,
    "queue/queue.go": GO,
    "src/settings.rs": RUST,
    "lib/sales_report.rb": RUBY,
}
LANGUAGES = ("go", "python", "ruby", "rust", "typescript")


def write_tree(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def tarball(path: Path, files: Mapping[str, str | bytes] = FILES, top: str = "shop-1.0/") -> Path:
    """A compressed archive of files, all of them below one folder."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            about = tarfile.TarInfo(top + name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return path


def wheel(path: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """A packed folder as Python packages come."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def clone(path: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """A repository with one commit."""
    write_tree(path, files)
    git(path, "init", "--quiet", "--initial-branch=main")
    git(path, "add", ".")
    git(path, "commit", "--quiet", "--message=All of it")
    return path


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, as a fixed user."""
    return subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments],
        cwd=folder,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def run(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command of the package in a process of its own, which may start others."""
    return subprocess.run(
        [sys.executable, "-m", f"training.{module}", *map(str, arguments)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
