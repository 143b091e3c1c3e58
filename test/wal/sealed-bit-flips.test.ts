/** One damaged place in a log with sealed entries loses nothing: as without a cipher. */
process.env['SEALED_METADATA'] = '1'
await import('./bit-flips.test.ts')
