/** Size limits of the API contract. [decisions 7] Bytes. */
const MIB = 1024 ** 2

export const PARTS_MAX = 10_000
/** For every part except the last. */
export const PART_BYTES_MIN: number = 5 * MIB
export const PART_BYTES_MAX: number = 5 * 1024 * MIB
export const OBJECT_BYTES_MAX: number = PARTS_MAX * PART_BYTES_MAX
/** Open uploads of one bucket: each has a row that stays until its owner ends the upload or it expires. */
export const UPLOADS_PER_BUCKET_MAX = 100_000
/** The size limit of one put, so that the work of one entry is bounded. */
export const OBJECT_COPY_BYTES_MAX: number = 5 * 1024 * MIB
