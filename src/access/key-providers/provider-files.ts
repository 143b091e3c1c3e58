/**
 * The files that the settings of a provider name.
 *
 * Owns: which contents are good. Rules: a file that cannot be used refuses the start with the setting that names it; errors quote no contents.
 */
import { X509Certificate } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { StartError } from '../../../cluster/index.ts'
import type { ProviderTls } from './provider-client.ts'

const FILE_BYTES_MAX = 256 * 1024
/** One word that a header or a JSON text may hold. */
const CREDENTIAL = /^[\x21-\x7e]{1,16384}$/

/** Throws StartError `key_provider_unusable`. */
export async function readCredential(setting: string, path: string): Promise<string> {
  const text = await readText(setting, path)
  if (CREDENTIAL.test(text)) return text
  throw unusable(`${setting} names a file that does not hold one word of printable characters`)
}

/** Paths; null: not given. `section`: of the settings, such as security.kms. Throws StartError `key_provider_unusable`. */
export async function readProviderTls(
  section: string,
  {
    ca,
    cert,
    key,
  }: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null },
): Promise<ProviderTls> {
  const authorities = ca === null ? null : await readText(`${section}.ca`, ca)
  const certificate = cert === null ? null : await readText(`${section}.client_cert`, cert)
  const privateKey = key === null ? null : await readText(`${section}.client_key`, key)
  try {
    if (authorities !== null) new X509Certificate(authorities)
  } catch (cause) {
    throw unusable(`${section}.ca names a file that contains no PEM certificate`, cause)
  }
  try {
    if (certificate !== null && privateKey !== null)
      createSecureContext({ cert: certificate, key: privateKey })
  } catch (cause) {
    throw unusable(
      `${section}.client_cert and ${section}.client_key do not name a PEM certificate and its key`,
      cause,
    )
  }
  return {
    ...(authorities === null ? {} : { ca: authorities }),
    ...(certificate === null ? {} : { cert: certificate }),
    ...(privateKey === null ? {} : { key: privateKey }),
  }
}

/** ELF, Mach-O for one machine and for several, PE. */
const LIBRARIES = ['7f454c46', 'cffaedfe', 'cafebabe', '4d5a']

/** Throws StartError `key_provider_unusable` unless the file begins as a shared library does. */
export async function requireModule(setting: string, path: string): Promise<void> {
  const first = await firstBytes(path).catch((cause: unknown) => {
    throw unusable(`${setting} names a file that cannot be read`, cause)
  })
  if (LIBRARIES.some((magic) => first.startsWith(magic))) return
  throw unusable(`${setting} names a file that is no shared library`)
}

async function firstBytes(path: string): Promise<string> {
  const handle = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.subarray(0, bytesRead).toString('hex')
  } finally {
    await handle.close()
  }
}

async function readText(setting: string, path: string): Promise<string> {
  try {
    const handle = await open(path, 'r')
    try {
      const { size } = await handle.stat()
      if (size > FILE_BYTES_MAX)
        throw unusable(`${setting} names a file of more than ${FILE_BYTES_MAX} bytes`)
      return (await handle.readFile('utf8')).trim()
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw unusable(`${setting} names a file that cannot be read`, cause)
  }
}

function unusable(message: string, cause?: unknown): StartError {
  const hint = 'Correct the setting or the file; docs/guide/master-key.md shows each form.'
  return new StartError('key_provider_unusable', message, { hint, cause })
}
