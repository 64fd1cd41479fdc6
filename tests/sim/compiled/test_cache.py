"""Where built models are kept."""

import os
from pathlib import Path

import pytest

from sim.compiled.cache import ModelCache, cache_folder, key_of
from sim.compiled.errors import ModelBuildError, ModelCacheError


def writes(content: bytes):
    return lambda library: library.write_bytes(content)


def test_a_library_is_there_once_it_is_added(tmp_path):
    cache = ModelCache(tmp_path / "some" / "where")
    assert not cache.has("key")
    cache.add("key", writes(b"library"))
    assert cache.has("key")
    assert cache.path("key").read_bytes().startswith(b"library")


def test_nothing_else_stays_behind(tmp_path):
    cache = ModelCache(tmp_path)
    cache.add("key", writes(b"library"))
    assert [path.name for path in tmp_path.iterdir()] == ["key.so"]


def test_a_build_that_fails_leaves_nothing(tmp_path):
    def fail(library: Path) -> None:
        library.write_bytes(b"half")
        raise ModelBuildError(model="chip 0", tool="g++", report="error: no")

    with pytest.raises(ModelBuildError):
        ModelCache(tmp_path).add("key", fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"short", b"library" * 20])
def test_what_is_not_sealed_does_not_count(tmp_path, content):
    cache = ModelCache(tmp_path)
    cache.path("key").write_bytes(content)
    assert not cache.has("key")


def test_a_library_replaces_another_without_touching_it(tmp_path):
    cache = ModelCache(tmp_path)
    cache.add("key", writes(b"first"))
    with cache.path("key").open("rb") as in_use:
        cache.add("key", writes(b"second"))
        assert in_use.read().startswith(b"first")
    assert cache.path("key").read_bytes().startswith(b"second")


def test_a_folder_that_cannot_be_made_is_an_error_of_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "models"
    with pytest.raises(ModelCacheError) as error:
        ModelCache(folder).add("key", writes(b"library"))
    assert str(error.value) == (
        f"built models cannot be kept in {str(folder)!r}: Not a directory; set XDG_CACHE_HOME to "
        f"a place that can be written"
    )


def test_keys_depend_on_every_part_and_its_bounds():
    keys = [key_of(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], [b"abc", b""], [])]
    assert len({*keys}) == 5
    assert key_of(["ab", b"c"]) == key_of([b"ab", "c"]) == keys[0]


@pytest.mark.parametrize("base", ["", "relative"])
def test_models_are_in_the_users_cache(monkeypatch, base):
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert cache_folder() == Path.home() / ".cache" / "shardwright" / "models"


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 12345678)  # for whom passwd has no entry
    with pytest.raises(ModelCacheError) as error:
        ModelCache()
    assert str(error.value) == (
        "built models cannot be kept in '~/.cache/shardwright/models': HOME is not set, and the "
        "system knows no home folder of this user; set XDG_CACHE_HOME to a place that can be "
        "written"
    )


def test_the_users_cache_may_be_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    assert cache_folder() == tmp_path / "shardwright" / "models"
