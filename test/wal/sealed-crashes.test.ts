/**
 * The log with sealed entries keeps the same promises: crashes, torn ends, damage and repair, as without a cipher.
 */
process.env['SEALED_METADATA'] = '1'
await import('./segmented-log.test.ts')
await import('./torn-tail.test.ts')
await import('./refusals.test.ts')
await import('./workload.test.ts')
await import('./crash-points.test.ts')
