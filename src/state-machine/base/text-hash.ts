/** Compares sets of rows without holding them: equal sets have equal sums of hashes. */

/** 64 bits of a good hash: in practice two different texts never have the same one. */
export type TextHash = (text: string) => bigint
