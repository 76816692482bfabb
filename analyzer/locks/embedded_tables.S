/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data tables of analyzer/locks/data, linked into the program so that it needs no files at run time. */
    .section .rodata
    .global whichlock_lock_routines_begin
    .global whichlock_lock_routines_end
whichlock_lock_routines_begin:
    .incbin "analyzer/locks/data/lock_routines.tsv"
whichlock_lock_routines_end:
    .global whichlock_known_sites_begin
    .global whichlock_known_sites_end
whichlock_known_sites_begin:
    .incbin "analyzer/locks/data/known_sites.tsv"
whichlock_known_sites_end:
    .global whichlock_kernel_locks_begin
    .global whichlock_kernel_locks_end
whichlock_kernel_locks_begin:
    .incbin "analyzer/locks/data/kernel_locks.tsv"
whichlock_kernel_locks_end:
    .section .note.GNU-stack,"",%progbits
