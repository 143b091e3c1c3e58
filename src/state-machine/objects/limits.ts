/** The sizes of the contract. [decisions 7] Bytes. */
const MIB = 1024 ** 2

export const PARTS_MAX = 10_000
/** Of every part but the last. */
export const PART_BYTES_MIN: number = 5 * MIB
export const PART_BYTES_MAX: number = 5 * 1024 * MIB
export const OBJECT_BYTES_MAX: number = PARTS_MAX * PART_BYTES_MAX
/** Of one bucket, open at a time: each is a row that only its owner or its time removes. */
export const UPLOADS_PER_BUCKET_MAX = 100_000
/** As much as one put may bring: the work of one entry is bounded. */
export const OBJECT_COPY_BYTES_MAX: number = 5 * 1024 * MIB
