; Rods in a square lattice: the example of MPB's tutorial, in both polarisations.
; Fields begin with random numbers, the same in every run.
(set! deterministic? true)
(set! num-bands 6)
(set! k-points (interpolate 2 (list (vector3 0 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0))))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity) (material (make dielectric (epsilon 12))))))
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! resolution 48)
(run-te)
(run-tm)
