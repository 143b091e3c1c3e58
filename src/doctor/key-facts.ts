/**
 * Reads the master key file as a node does, and keeps only the fingerprints.
 */
import { StartError } from '../../cluster/index.ts'
import { keyNames, type KeySettings } from '../access/provided-keys.ts'
import type { KeyFileFacts } from './key-checks.ts'

export async function keyFileFacts(settings: KeySettings): Promise<KeyFileFacts> {
  const { masterKeyFile: path } = settings
  try {
    const { fingerprints } = await keyNames(settings)
    return { path, fingerprints, failure: null }
  } catch (cause) {
    if (cause instanceof StartError) {
      const { code, message, hint } = cause
      return { path, fingerprints: null, failure: { code, message, hint } }
    }
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    const hint = 'Set security.master_key_file to the path of the key file.'
    const message = `Cannot read the master key file '${path}'`
    return { path, fingerprints: null, failure: { code, message, hint } }
  }
}
