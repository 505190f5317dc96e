"""Silicon by GPAW in plane waves: prints the total energy and the force on a displaced atom."""
from ase.build import bulk
from gpaw import GPAW, PW

silicon = bulk("Si", "diamond", a=5.43)
silicon.positions[1] += 0.05
silicon.calc = GPAW(mode=PW(200), kpts=(2, 2, 2), xc="LDA", txt=None, symmetry="off")
print(f"energy {silicon.get_potential_energy():.6f} eV")
print("force", " ".join(f"{component:.4f}" for component in silicon.get_forces()[0]))
