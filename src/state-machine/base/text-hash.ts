/** How sets of rows are compared without holding them: the sums of such hashes are equal when the sets are. */

/** 64 bits of a good hash: two different texts never have the same one in practice. */
export type TextHash = (text: string) => bigint
