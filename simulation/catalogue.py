"""What simulated sites may have installed: names and versions as real sites have them."""

from __future__ import annotations

__all__ = ["APPLICATIONS", "CPUS", "GPUS", "LIBRARIES", "MPI", "PYTHON"]

APPLICATIONS: dict[str, tuple[str, ...]] = {
    "amber": ("20", "22", "24"),
    "cp2k": ("2022.2", "2023.1", "2024.1"),
    "espresso": ("7.0", "7.2", "7.3.1"),
    "gromacs": ("2021.5", "2022.5", "2023.3", "2024.2"),
    "lammps": ("20210929.3", "20220623.4", "20230802.4", "20240829"),
    "namd": ("2.14", "3.0"),
    "nwchem": ("7.0.2", "7.2.2"),
    "openfoam": ("2206", "2212", "2312"),
    "osu-micro-benchmarks": ("6.1", "7.3"),
    "paraview": ("5.10.1", "5.11.2", "5.12.1"),
    "vasp": ("5.4.4", "6.3.2", "6.4.2"),
    "wrf": ("4.3.3", "4.4.2", "4.5.1"),
}
LIBRARIES: dict[str, tuple[str, ...]] = {
    "boost": ("1.76.0", "1.79.0", "1.83.0"),
    "cmake": ("3.20.6", "3.24.3", "3.27.9"),
    "fftw": ("3.3.8", "3.3.10"),
    "gcc": ("9.5.0", "11.4.0", "12.3.0", "13.2.0"),
    "hdf5": ("1.10.9", "1.12.2", "1.14.3"),
    "netcdf-c": ("4.8.1", "4.9.2"),
    "openblas": ("0.3.20", "0.3.26"),
    "petsc": ("3.17.5", "3.20.5"),
    "python": ("3.9.18", "3.10.13", "3.11.7", "3.12.1"),
    "trilinos": ("13.4.1", "14.4.0"),
}
PYTHON: dict[str, tuple[str, ...]] = {
    "ase": ("3.22.1", "3.23.0"),
    "biopython": ("1.79", "1.83"),
    "dask": ("2022.12.1", "2024.5.0"),
    "mpi4py": ("3.1.4", "3.1.6"),
    "numpy": ("1.22.4", "1.26.4", "2.0.1"),
    "pandas": ("1.5.3", "2.2.2"),
    "ray": ("2.9.3", "2.31.0"),
    "scikit-learn": ("1.2.2", "1.5.0"),
    "scipy": ("1.9.3", "1.13.1"),
    "tensorflow": ("2.12.1", "2.16.1"),
    "torch": ("1.13.1", "2.1.2", "2.3.1"),
    "transformers": ("4.30.2", "4.42.3"),
}
MPI: dict[str, tuple[str, ...]] = {
    "cray-mpich": ("8.1.25", "8.1.28"),
    "intel-mpi": ("2021.7.1", "2021.11.0"),
    "mpich": ("3.4.3", "4.1.2"),
    "mvapich": ("2.3.7", "3.0"),
    "openmpi": ("4.0.7", "4.1.6", "5.0.3"),
}
GPUS: tuple[tuple[str, str, int], ...] = (
    ("nvidia", "NVIDIA A100-SXM4-40GB", 40),
    ("nvidia", "NVIDIA A100-SXM4-80GB", 80),
    ("nvidia", "NVIDIA H100 80GB HBM3", 80),
    ("nvidia", "Tesla V100-SXM2-32GB", 32),
    ("nvidia", "NVIDIA L4", 24),
    ("amd", "AMD Instinct MI250X", 64),
    ("amd", "AMD Instinct MI300A", 128),
    ("intel", "Intel Data Center GPU Max 1550", 128),
)
"""Vendor, model and GiB of each."""
CPUS: tuple[tuple[str, str, str, int], ...] = (
    ("AuthenticAMD", "AMD EPYC 7763 64-Core Processor", "zen3", 64),
    ("AuthenticAMD", "AMD EPYC 9654 96-Core Processor", "zen4", 96),
    ("GenuineIntel", "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", "icelake", 32),
    ("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480+", "sapphirerapids", 56),
    ("GenuineIntel", "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", "cascadelake", 20),
    ("ARM", "Neoverse-V2", "neoverse_v2", 72),
)
"""Vendor, model, microarchitecture and cores of each socket."""
