/* FFTW's verification program calls these around every plan, to look into FFTW's planner: there is none here. */
void install_hook(void) {}
void uninstall_hook(void) {}
