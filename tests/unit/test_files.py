"""fbg.files: whole or not at all, and nothing but regular files is read or replaced."""

import builtins
import errno
import os
import socket
import stat
import warnings
from pathlib import Path

import numpy as np
import pytest

import fbg
from fbg import files
from fbg.files import (
    NotRegularError,
    open_in_place,
    open_regular,
    rename_over,
    replace_file,
    require_replaceable,
)
from fbg.tuning.store import Blocking, Measured, Store, product_key
from helpers import tiny_bert


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    before = os.getcwd()
    os.chdir(path.parent)  # the name of a socket has room for 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(before)


def make_link_to_pipe(path):
    target = path.with_name("target")
    os.mkfifo(target)
    path.symlink_to(target)


KINDS = {
    "pipe": (make_pipe, "is a named pipe, not a regular file"),
    "socket": (make_socket, "is a socket, not a regular file"),
    "link to a pipe": (make_link_to_pipe, "is a named pipe, not a regular file"),
    "directory": (Path.mkdir, "Is a directory"),
}


@pytest.fixture(params=KINDS)
def irregular(request, tmp_path):
    make, message = KINDS[request.param]
    path = tmp_path / "irregular"
    make(path)
    yield path, message


def write(path, content):
    with replace_file(path) as file:
        file.write(content)


def save_weights(path):
    fbg.PackedB(np.ones((2, 2), np.float32)).save(path, overwrite=True)


def add_to_tuning_cache(path):
    entry = {product_key("avx2", 1, ("int8", 4, 4), 8): Measured(Blocking(), 1.0, 1.0)}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what was there
        patch.setenv("FBG_TUNING_CACHE", str(path))
        Store().add(entry)


@pytest.fixture(params=[lambda path: write(path, b"new"), save_weights, add_to_tuning_cache])
def save(request):
    """Something that writes files whole."""
    return request.param


def identity(path):
    status = path.lstat()
    return status.st_ino, stat.S_IFMT(status.st_mode)


def test_a_file_is_replaced_when_the_block_ends(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replace_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_name_may_be_as_long_as_names_are(tmp_path):
    path = tmp_path / ("ü" * 127)
    write(path, b"long")
    assert path.read_bytes() == b"long"


def fail(*args):
    raise OSError("disk on fire")


def fail_within(path):
    with replace_file(path) as file:
        file.write(b"new")
        fail()


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("saving", [lambda path: write(path, b"new"), save_weights, fail_within])
def test_a_failure_leaves_the_old_file_alone(tmp_path, monkeypatch, saving, step):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        if saving is not fail_within:
            patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="disk on fire"):
            saving(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_is_no_regular_file_is_not_replaced(irregular):
    path, message = irregular
    before, names = identity(path), sorted(os.listdir(path.parent))
    with pytest.raises(OSError, match=message) as caught:
        write(path, b"new")
    assert str(path) in str(caught.value)
    with pytest.raises(OSError, match=message):
        require_replaceable(path)
    assert identity(path) == before
    assert sorted(os.listdir(path.parent)) == names


def test_what_is_no_regular_file_is_not_read(irregular):
    path, message = irregular
    for opened in (open_regular, open_in_place):
        with pytest.raises(OSError, match=f"{message}|symbolic link") as caught:
            opened(path)
        assert str(path) in str(caught.value)


def test_a_device_is_neither_read_nor_replaced(tmp_path, monkeypatch):
    path = tmp_path / "device"
    path.touch()
    real = os.stat

    def device(name, **options):
        status = list(real(name, **options))
        if Path(name) == path:
            status[stat.ST_MODE] = stat.S_IFCHR | 0o666
        return os.stat_result(status)

    monkeypatch.setattr(os, "stat", device)
    for function in (require_replaceable, open_regular):
        with pytest.raises(NotRegularError, match=r"device: is a device, not a regular file"):
            function(path)


def test_dev_zero_is_not_read():
    with pytest.raises(NotRegularError, match="/dev/zero: is a device"):
        open_regular("/dev/zero")


def test_an_open_pipe_is_not_replaced_by_its_name_in_proc():
    reading, writing = os.pipe()
    try:
        with pytest.raises(NotRegularError, match=f"/dev/fd/{writing}: is a named pipe"):
            require_replaceable(f"/dev/fd/{writing}")
    finally:
        os.close(reading)
        os.close(writing)


def test_what_appears_while_a_file_is_written_stays(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(NotRegularError), replace_file(path) as file:
        file.write(b"new")
        os.mkfifo(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("exists", [True, False])
def test_links_stay_and_their_target_is_written(tmp_path, save, exists):
    folder = tmp_path / "folder"
    folder.mkdir()
    target, middle, link = folder / "target", tmp_path / "middle", tmp_path / "link"
    if exists:
        target.write_bytes(b"{}")
    middle.symlink_to(Path("folder") / "target")
    link.symlink_to(middle)
    save(link)
    assert link.is_symlink()
    assert middle.is_symlink()
    assert target.read_bytes() not in (b"", b"{}")
    assert target.name in os.listdir(folder)


def test_a_circle_of_links_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError) as caught:
        write(tmp_path / "a", b"new")
    assert caught.value.errno == errno.ELOOP
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path, save):
    save(tmp_path / "ours")
    (tmp_path / "any").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "file"
    path.touch()
    root = os.geteuid() == 0  # nobody else may give files away
    owner = (12345, 23456) if root else (os.geteuid(), os.getegid())
    os.chown(path, *owner)
    write(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == owner


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        write(tmp_path / "none" / "file", b"")


def test_a_working_file_is_opened_where_it_lies(tmp_path):
    path = tmp_path / "file"
    with open_in_place(path) as file:
        file.write(b"abc")
    with open_in_place(path) as file:
        assert file.read() == b"abc"
        rename_over(file, path, tmp_path / "other")
    assert os.listdir(tmp_path) == ["other"]
    path.symlink_to("other")
    with pytest.raises(NotRegularError, match="is a symbolic link"):
        open_in_place(path)


def test_packed_weights_are_saved_to_and_loaded_from_regular_files_only(irregular):
    path, message = irregular
    before = identity(path)
    packed = fbg.PackedB(np.ones((2, 2), np.float32))
    with pytest.raises(OSError, match=message):
        packed.save(path)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.PackedB.load(path)
    assert identity(path) == before


def test_a_model_is_saved_over_no_other_kind_of_file(irregular):
    path, _ = irregular
    if path.is_dir():
        (path / "something").touch()
    before = identity(path)
    checkpoint = tiny_bert.write_checkpoint(path.with_name("model"), seed=1)
    with pytest.raises(FileExistsError, match="already exists and is not a saved model"):
        fbg.load(checkpoint).save(path, overwrite=True)
    assert identity(path) == before


@pytest.mark.parametrize("function", [open_regular, open_in_place])
def test_an_interruption_closes_a_file_once(function, tmp_path, monkeypatch):
    """A file that was closed twice could be another one by then, and its error hid the first."""

    def interrupted(*arguments, **options):
        builtins.open(*arguments, **options).close()
        raise KeyboardInterrupt

    path = tmp_path / "file"
    path.touch()
    monkeypatch.setattr(files, "open", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        function(path)
