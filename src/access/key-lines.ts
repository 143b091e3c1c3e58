/**
 * The lines of the key file: keys themselves, or keys that a provider has wrapped.
 *
 * Owns: both forms of a line. Knows nothing of: files, providers.
 * Rules: a line says which key it is without the key being opened, so nodes compare keys while the provider is away; two texts never mean
 * the same line.
 *
 * Plain: `holdfast-master-key-1:<id>:<base64url of 32 bytes>`.
 * Wrapped: `holdfast-wrapped-key-1:<id>:<fingerprint>:<provider>:<version of the provider's key>:<base64url of what the provider returned>`.
 */
import { randomBytes } from 'node:crypto'
import { StartError } from '../../cluster/index.ts'
import { MASTER_KEYS_MAX } from '../state-machine/master-keys/limits.ts'
import type { ProviderName, WrappedSecret } from './key-providers/key-provider.ts'
import { KEY_BYTES, MasterKeyVersion } from './master-key-version.ts'

const PLAIN = /^holdfast-master-key-1:(mk-[a-z0-9-]{1,32}):([A-Za-z0-9_-]{43})$/
const WRAPPED =
  /^holdfast-wrapped-key-1:(mk-[a-z0-9-]{1,32}):([0-9a-f]{64}):(vault|kms|pkcs11):([A-Za-z0-9._-]{1,64}):([A-Za-z0-9_-]{1,4096})$/

export interface PlainLine {
  readonly form: 'plain'
  readonly id: string
  readonly fingerprint: string
  readonly secret: Uint8Array
}

export interface WrappedLine {
  readonly form: 'wrapped'
  readonly id: string
  readonly fingerprint: string
  readonly provider: ProviderName
  readonly wrapped: WrappedSecret
}

export type KeyLine = PlainLine | WrappedLine

export function plainLine(id: string, secret: Uint8Array): PlainLine {
  return { form: 'plain', id, secret, fingerprint: new MasterKeyVersion(id, secret).fingerprint }
}

/** A new key. */
export function newLine(): PlainLine {
  return plainLine(`mk-${randomBytes(6).toString('hex')}`, randomBytes(KEY_BYTES))
}

export function textOfLine(line: KeyLine): string {
  if (line.form === 'plain')
    return `holdfast-master-key-1:${line.id}:${Buffer.from(line.secret).toString('base64url')}\n`
  const { id, fingerprint, provider, wrapped } = line
  const text = Buffer.from(wrapped.text).toString('base64url')
  return `holdfast-wrapped-key-1:${id}:${fingerprint}:${provider}:${wrapped.version}:${text}\n`
}

/** 1 to 8 lines, the newest first. Throws StartError `master_key_malformed`; `file` is only named. */
export function parseKeyLines(file: string, text: string): readonly KeyLine[] {
  const lines = text.replace(/\n$/, '').split('\n').map(parseLine)
  const good = lines.filter((line) => line !== null)
  const ids = new Set(good.map(({ id }) => id))
  if (good.length === lines.length && ids.size === lines.length && lines.length <= MASTER_KEYS_MAX)
    return good
  throw new StartError('master_key_malformed', `Master key file '${file}' is not in the expected format`, {
    hint: 'Restore the file from its backup: lines holdfast-master-key-1:<id>:<43 characters>, or holdfast-wrapped-key-1: and what a provider wrapped, each id once.',
  })
}

function parseLine(line: string): KeyLine | null {
  const [, id, encoded] = PLAIN.exec(line) ?? []
  if (id === undefined || encoded === undefined) return parseWrapped(line)
  const secret = Buffer.from(encoded, 'base64url')
  // The unused bits of the last character have to be zero.
  if (secret.length !== KEY_BYTES || secret.toString('base64url') !== encoded) return null
  return plainLine(id, secret)
}

function parseWrapped(line: string): WrappedLine | null {
  const [, id, fingerprint, provider, version, encoded] = WRAPPED.exec(line) ?? []
  if (id === undefined || fingerprint === undefined || version === undefined || encoded === undefined)
    return null
  const bytes = Buffer.from(encoded, 'base64url')
  if (bytes.toString('base64url') !== encoded) return null
  const wrapped = { version, text: bytes.toString('utf8') }
  return { form: 'wrapped', id, fingerprint, provider: provider as ProviderName, wrapped }
}

/** Of a file without a provider. Throws StartError `master_key_wrong_provider`; `file` is only named. */
export function plainOnly(file: string, lines: readonly KeyLine[]): readonly PlainLine[] {
  return lines.map((line) => {
    if (line.form === 'plain') return line
    throw wrongProvider(file, line, 'file')
  })
}

/** Throws StartError `master_key_wrong_provider` for the first line that is not of this provider. */
export function requireProvider(
  file: string,
  lines: readonly KeyLine[],
  configured: 'file' | ProviderName,
): void {
  for (const line of lines)
    if ((line.form === 'plain' ? 'file' : line.provider) !== configured)
      throw wrongProvider(file, line, configured)
}

function wrongProvider(file: string, line: KeyLine, configured: string): StartError {
  const found = line.form === 'plain' ? 'itself' : `wrapped by ${line.provider}`
  return new StartError(
    'master_key_wrong_provider',
    `Master key file '${file}' holds master key '${line.id}' ${found}, and security.master_key_provider is ${configured}`,
    {
      hint: 'Correct the setting; to move the keys to another provider run `holdfast master-key rewrap`, where --from names the configuration that opens the file now. The steps are in deploy/runbooks/move-master-key.md.',
    },
  )
}
