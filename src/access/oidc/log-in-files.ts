/**
 * The files that the settings of the log-in name: examined before a start, and read when they are needed, so that a new secret takes effect without a
 * restart.
 *
 * Rules: a secret that other users of the machine can read is not used; errors quote no contents.
 */
import { X509Certificate } from 'node:crypto'
import { open } from 'node:fs/promises'
import { StartError } from '../../../cluster/index.ts'
import type { OidcSettings } from '../../config/types.ts'
import { ProviderFault } from './bounded-fetch.ts'

const FILE_BYTES_MAX = 256 * 1024
/** What a header may hold. */
const SECRET = /^[\x21-\x7e]{1,4096}$/

/** `path` null: a public client. Throws ProviderFault. */
export async function readClientSecret(path: string | null): Promise<string | null> {
  if (path === null) return null
  const { text, mode } = await readText('console.oidc.client_secret_file', path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new ProviderFault(
      'console.oidc.client_secret_file names a file that other users can open (chmod 600)',
    )
  if (SECRET.test(text)) return text
  throw new ProviderFault('console.oidc.client_secret_file names a file that does not hold one word')
}

/** PEM; null: none is given. Throws ProviderFault. */
export async function readAuthorities(path: string | null): Promise<string | null> {
  if (path === null) return null
  const { text } = await readText('console.oidc.ca', path)
  try {
    new X509Certificate(text)
  } catch {
    throw new ProviderFault('console.oidc.ca names a file that contains no PEM certificate')
  }
  return text
}

/** Throws StartError `log_in_unusable`. */
export async function examineLogInFiles(
  settings: Pick<OidcSettings, 'ca' | 'clientSecretFile'>,
): Promise<void> {
  try {
    await readClientSecret(settings.clientSecretFile)
    await readAuthorities(settings.ca)
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    const hint = 'Correct the setting or the file; docs/guide/log-in.md shows a whole configuration.'
    throw new StartError('log_in_unusable', error.message, { hint })
  }
}

async function readText(
  setting: string,
  path: string,
): Promise<{ readonly text: string; readonly mode: number }> {
  try {
    const handle = await open(path, 'r')
    try {
      const { size, mode } = await handle.stat()
      if (size > FILE_BYTES_MAX)
        throw new ProviderFault(`${setting} names a file of more than ${FILE_BYTES_MAX} bytes`)
      return { text: (await handle.readFile('utf8')).trim(), mode }
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if (cause instanceof ProviderFault) throw cause
    throw new ProviderFault(`${setting} names a file that cannot be read`)
  }
}
