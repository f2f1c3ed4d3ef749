/* The ROM of the emulated machine, in place of a BIOS: from reset to the kernel's 32-bit entry point. It knows that an image lies at
   IMAGE in memory, that the image starts with Linux' boot_params (Documentation/arch/x86/boot.rst), and two fields of those. */
    .set CODE32_START, 0x214        /* boot_params: where the kernel is entered */
    .set IMAGE_END, 0xffc           /* our own, in the unused end of the page: where the image ends */
    .set IN_MEMORY, 0xffff0000      /* the last 64 KiB below 4 GiB */

    .code16
    .text
rom:
reset:
    cli
    lgdtl %cs:(gdt_pointer - rom)
    movl %cr0, %eax
    orl $1, %eax
    movl %eax, %cr0
    ljmpl $0x10, $(IN_MEMORY + protected - rom)

    .code32
protected:
    movw $0x18, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movl $IMAGE, %esi
    /* Bochs reads the image into host memory in one piece, but maps guest memory to host memory block by block, in the order in which
       blocks are first touched. Touched from the first to the last, they are where the image was put. */
    movl %esi, %ecx
touch:
    movl (%ecx), %eax
    addl $0x1000, %ecx
    cmpl IMAGE_END(%esi), %ecx
    jb touch
    xorl %ebx, %ebx
    xorl %edi, %edi
    xorl %ebp, %ebp
    jmp *CODE32_START(%esi)

    .balign 8
gdt:                                /* the selectors that the kernel wants: 0x10 for code, 0x18 for data, both flat */
    .quad 0, 0
    .quad 0x00cf9b000000ffff
    .quad 0x00cf93000000ffff
gdt_pointer:
    .word gdt_pointer - gdt - 1
    .long IN_MEMORY + gdt - rom

    .org 0xfff0                     /* where a processor starts */
    .code16
    jmp reset
    .org 0x10000
