import os
import stat

import pytest

from sim import files
from sim.errors import OutputFileError
from sim.files import check_writable, write_whole


def refusal(path: object, why: str) -> str:
    return f"output file {str(path)!r} cannot be written: {why}; choose another place"


def write_hello(file):
    file.write(b"hello")


def names_in(folder) -> list[str]:
    return sorted(os.listdir(folder))


def test_writes_exactly_the_file_that_is_named(tmp_path):
    write_whole(tmp_path / "name without suffix", write_hello)
    assert names_in(tmp_path) == ["name without suffix"]
    assert (tmp_path / "name without suffix").read_bytes() == b"hello"


def test_replaces_what_was_there(tmp_path):
    path = tmp_path / "c.npy"
    path.write_bytes(b"a longer text that was there before")
    write_whole(path, write_hello)
    assert path.read_bytes() == b"hello"


def test_a_new_file_has_the_permissions_of_any_other_new_file(tmp_path):
    (tmp_path / "other").touch()
    write_whole(tmp_path / "c.npy", write_hello)
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "c.npy")}
    assert len(modes) == 1


def test_writes_at_the_end_of_a_symbolic_link(tmp_path):
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", write_hello)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"hello"


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_leaves_the_old_file_and_nothing_else_if_writing_fails(tmp_path, failure):
    path = tmp_path / "c.npy"
    path.write_bytes(b"before")

    def fail(file):
        file.write(b"half")
        raise failure

    with pytest.raises(failure):
        write_whole(path, fail)
    assert names_in(tmp_path) == ["c.npy"]
    assert path.read_bytes() == b"before"


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "c.npy"

    def fail(file):
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputFileError) as error:
        write_whole(path, fail)
    assert str(error.value) == refusal(path, "No space left on device")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("check", [check_writable, lambda path: write_whole(path, write_hello)])
def test_refuses_a_folder_a_missing_folder_and_a_device(tmp_path, check):
    missing = tmp_path / "absent"
    for path, why in [
        (tmp_path, "it is a folder"),
        (missing / "c.npy", f"there is no folder {str(missing)!r}"),
        ("/dev/null", "it is no regular file"),
        (tmp_path / ("x" * 300), "File name too long"),
    ]:
        with pytest.raises(OutputFileError) as error:
            check(path)
        assert str(error.value) == refusal(path, why)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("exists", [True, False])
def test_refuses_where_the_system_denies_permission(tmp_path, monkeypatch, exists):
    path = tmp_path / "c.npy"
    if exists:
        path.touch()
    monkeypatch.setattr(files.os, "access", lambda place, mode: False)
    with pytest.raises(OutputFileError) as error:
        check_writable(path)
    assert str(error.value) == refusal(path, "permission denied")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("closed", ["file", "folder"])
def test_refuses_a_read_only_file_and_folder(tmp_path, closed):
    path = tmp_path / "c.npy"
    path.touch()
    (path if closed == "file" else tmp_path).chmod(0o555)
    with pytest.raises(OutputFileError) as error:
        check_writable(path)
    tmp_path.chmod(0o755)
    assert str(error.value) == refusal(path, "permission denied")


def test_checking_makes_no_file(tmp_path):
    check_writable(tmp_path / "c.npy")
    assert names_in(tmp_path) == []
