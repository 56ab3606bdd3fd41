"""Trees of modules: which of two names with versions is the package, and which what it was built with."""

from typing import Any

import pytest

from providers.probes.software.module_names import named


@pytest.mark.parametrize(
    ("full", "wanted", "told"),
    [
        ("gcc/12.2/hdf5/1.14", "hdf5", ("hdf5", "1.14", (), "gcc@12.2")),
        ("gcc/12.2/openmpi/4.1.5/hdf5/1.14", "hdf5", ("hdf5", "1.14", (), "gcc@12.2")),
        ("gcc/12.2/openmpi/4.1.5", "openmpi", ("openmpi", "4.1.5", (), "gcc@12.2")),
        ("gcc/12.2/openmpi", "openmpi", ("openmpi", None, (), "gcc@12.2")),
        ("openmpi/4.1.5/gcc/12.2", "gcc", None),
        ("openmpi/4.1.5/gcc/12.2", "openmpi", ("openmpi", "4.1.5", ("gcc", "12.2"), None)),
        ("lammps/2Aug2023/gcc", "gcc", None),
        ("lammps/2Aug2023/python/3.11", "python", None),
        ("gcc/12.2/python/3.11.4", "python", ("python", "3.11.4", (), "gcc@12.2")),
        ("python/3.11/numpy/1.26.0", "numpy", ("numpy", "1.26.0", (), None)),
        ("2023a/GROMACS/2023.3", "gromacs", ("GROMACS", "2023.3", (), None)),
        ("2023a/gcc/12.3.0", "gcc", ("gcc", "12.3.0", (), None)),
        ("stack/2023a/gcc/12.3.0", "gcc", ("gcc", "12.3.0", (), None)),
        ("foss/2023a/GROMACS/2023.3-CUDA-12.1", "gromacs", ("GROMACS", "2023.3", ("CUDA-12.1",), "foss@2023a")),
        ("el9.2/zen4/gcc/12.3.0", "gcc", ("gcc", "12.3.0", (), None)),
        ("gcc/12.2/intel-oneapi-mkl/2023.2", "intel-oneapi-mkl", ("intel-oneapi-mkl", "2023.2", (), "gcc@12.2")),
    ],
)
def test_a_package_below_a_versioned_folder(full: str, wanted: str, told: Any) -> None:
    assert named(full, wanted) == told
