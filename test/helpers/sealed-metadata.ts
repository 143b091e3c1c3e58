/**
 * The metadata key of tests that run a suite a second time, with everything sealed.
 *
 * Rule: a file that is about the sealed form sets SEALED_METADATA before it imports the suite; everywhere else nothing is sealed.
 */
import { cipherOf, type MetadataCipher, type MetadataUse } from '../../cluster/base/metadata-cipher.ts'

const KEY = Buffer.alloc(32, 'a metadata key of a test')

/** Null: nothing is to be sealed. */
export function testMetadataKey(): Uint8Array | null {
  return process.env['SEALED_METADATA'] === '1' ? KEY : null
}

export function testCipher(use: MetadataUse): MetadataCipher | null {
  return cipherOf(testMetadataKey(), use)
}
