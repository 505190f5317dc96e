from ._signatures import ManyAxesCosine, OneAxisCosine

dct: OneAxisCosine
dctn: ManyAxesCosine
idct: OneAxisCosine
idctn: ManyAxesCosine
dst: OneAxisCosine
dstn: ManyAxesCosine
idst: OneAxisCosine
idstn: ManyAxesCosine
