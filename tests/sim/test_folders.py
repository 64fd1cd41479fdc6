"""Output folders: whole or not at all."""

import os
from pathlib import Path

import pytest

from sim import folders
from sim.errors import OutputFileError
from sim.folders import check_folder, whole_folder


def fill(folder: Path | str) -> None:
    with whole_folder(folder) as made:
        (made / "file").write_text("hello")
        (made / "inner").mkdir()
        (made / "inner" / "file").write_text("there")


def contents(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


FILLED = ["file", "inner", "inner/file"]


def refusal(path: Path | str, why: str) -> str:
    return f"output file {str(path)!r} cannot be written: {why}; choose another place"


def test_makes_a_folder_and_those_above_it(tmp_path):
    fill(tmp_path / "new" / "er")
    assert contents(tmp_path / "new" / "er") == FILLED
    assert contents(tmp_path / "new") == ["er", *(f"er/{name}" for name in FILLED)]


def test_a_made_folder_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "other").mkdir()
    fill(tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("name", [".", "./", "../empty", "../link", "../empty/../link/."])
def test_an_empty_folder_stays_the_one_that_it_is_and_is_filled(tmp_path, monkeypatch, name):
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "link").symlink_to("empty")
    before = empty.stat().st_ino
    monkeypatch.chdir(empty)
    check_folder(name)
    fill(name)
    assert contents(Path.cwd()) == FILLED
    assert empty.stat().st_ino == before
    assert (tmp_path / "link").is_symlink()


def test_a_link_to_a_folder_that_is_not_there_makes_it(tmp_path):
    (tmp_path / "link").symlink_to("target")
    fill(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "target") == FILLED


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path, exists, failure):
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()

    def fails():
        with whole_folder(folder) as made:
            (made / "half").write_text("h")
            raise failure

    with pytest.raises(failure):
        fails()
    assert contents(tmp_path) == (["folder"] if exists else [])


def test_a_failure_while_an_empty_folder_is_filled_leaves_it_empty(tmp_path, monkeypatch):
    def fails_at_the_second(path, target):
        if path.name == "inner":
            raise OSError(28, "No space left on device")
        os.rename(path, target)
        return target

    monkeypatch.setattr(folders.Path, "rename", fails_at_the_second)
    with pytest.raises(OutputFileError) as error:
        fill(tmp_path)
    assert str(error.value) == refusal(tmp_path, "No space left on device")
    assert contents(tmp_path) == []


def test_refuses_what_is_in_the_way_and_leaves_it_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full" / "mine").mkdir(parents=True)
    before = contents(tmp_path)
    for folder, why in (
        ("full", "the folder is not empty"),
        ("file", "it is a file, not a folder"),
        ("file/folder", f"{str(tmp_path / 'file')!r} is a file, not a folder"),
        ("", "it has no name"),
        ("x" * 300, "File name too long"),
        ("/dev/null", "it is a file, not a folder"),
    ):
        for act in (check_folder, fill):
            with pytest.raises(OutputFileError) as error:
                act(folder)
            assert str(error.value) == refusal(folder, why)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("exists", [True, False])
def test_refuses_where_the_system_denies_permission(tmp_path, monkeypatch, exists):
    folder = tmp_path if exists else tmp_path / "new" / "er"
    monkeypatch.setattr(folders.os, "access", lambda place, mode: False)
    with pytest.raises(OutputFileError) as error:
        check_folder(folder)
    assert str(error.value) == refusal(folder, "permission denied")


def test_checking_makes_nothing(tmp_path):
    check_folder(tmp_path / "new" / "er")
    assert contents(tmp_path) == []
