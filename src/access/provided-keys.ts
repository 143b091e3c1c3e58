/**
 * The master keys of a node from its key file and the provider that opens it.
 *
 * Owns: which lines belong to which provider, what a provider's answer has to be, how long a start waits. Knows nothing of: HTTP.
 * Rules: with a provider the file holds no key, and a file that does is refused; a key counts only if it has the fingerprint of its line,
 * so a provider that returns something else is found before anything is sealed or opened with it; an answer that would be the same again
 * is not waited for.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { StartError } from '../../cluster/index.ts'
import type { Config } from '../config/types.ts'
import {
  type KeyLine,
  parseKeyLines,
  type PlainLine,
  plainLine,
  requireProvider,
  type WrappedLine,
} from './key-lines.ts'
import { type KeyProvider, ProviderError } from './key-providers/key-provider.ts'
import { openProvider } from './key-providers/open-provider.ts'
import { MasterKey } from './master-key.ts'
import { readKeyFile } from './master-key-file.ts'
import { KEY_BYTES } from './master-key-version.ts'

/** One try of eight lines, with a provider that is slow. */
const TRY_MS_MIN = 30_000
const FIRST_PAUSE_MS = 250
const PAUSE_MS_MAX = 5_000

export type KeySettings = Pick<Config['security'], 'masterKeyFile' | 'keyProvider' | 'masterKeyWaitMs'>

/** What can be known of the keys without opening them, the newest first. */
export interface KeyNames {
  readonly fingerprint: string
  readonly fingerprints: readonly string[]
}

export interface Waiting {
  /** How long a provider that does not answer is asked again. ms */
  readonly waitMs: number
  /** Ends the wait; its reason is thrown. */
  readonly signal?: AbortSignal
  /** Awaited before each pause, with what is missing. An error from it ends the wait. */
  readonly onWait?: (reason: string) => Promise<void>
}

/** Throws StartError as `MasterKey.load`, and `master_key_wrong_provider` when a line has another form than the settings say. */
export async function readKeyLines({
  masterKeyFile,
  keyProvider,
}: Pick<KeySettings, 'masterKeyFile' | 'keyProvider'>): Promise<readonly KeyLine[]> {
  const lines = parseKeyLines(masterKeyFile, await readKeyFile(masterKeyFile))
  requireProvider(masterKeyFile, lines, keyProvider.kind)
  return lines
}

/** Without asking a provider. Throws StartError as readKeyLines(). */
export async function keyNames(settings: KeySettings): Promise<KeyNames> {
  const fingerprints = (await readKeyLines(settings)).map(({ fingerprint }) => fingerprint)
  return { fingerprint: fingerprints[0] ?? '', fingerprints }
}

/**
 * Throws StartError as readKeyLines(), `key_provider_unusable`, `key_provider_unreachable`, `key_provider_denied`, `key_provider_failed`
 * and `master_key_mismatch`.
 */
export async function loadMasterKey(settings: KeySettings, waiting: Waiting): Promise<MasterKey> {
  const provider = await openProvider(settings.keyProvider)
  if (provider === null) return MasterKey.load(settings.masterKeyFile)
  try {
    return MasterKey.of(await openWithPatience(await readKeyLines(settings), provider, waiting))
  } finally {
    await provider.close()
  }
}

/** For commands: a provider that does not answer is asked once. Throws StartError as loadMasterKey(). */
export function loadMasterKeyOnce(settings: KeySettings): Promise<MasterKey> {
  return loadMasterKey(settings, { waitMs: 0 })
}

/** Throws ProviderError, and StartError `master_key_mismatch`. */
export async function openLines(
  lines: readonly KeyLine[],
  provider: KeyProvider,
  signal: AbortSignal,
): Promise<readonly PlainLine[]> {
  const opened: PlainLine[] = []
  for (const line of lines) opened.push(line.form === 'plain' ? line : await openLine(line, provider, signal))
  return opened
}

/** The wrapped form is opened again and compared before it is returned. Throws ProviderError, and StartError `master_key_mismatch`. */
export async function wrapLine(
  { id, fingerprint, secret }: PlainLine,
  provider: KeyProvider,
  signal: AbortSignal,
): Promise<WrappedLine> {
  const wrapped = await provider.wrap(secret, signal)
  const line = { form: 'wrapped', id, fingerprint, provider: provider.name, wrapped } as const
  await openLine(line, provider, signal)
  return line
}

/** As a StartError; anything else is returned as it is. */
export function startErrorOf(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  const { fault } = error
  const message = `Cannot open the master key: ${error.message}`
  switch (fault) {
    case 'unreachable':
      return new StartError('key_provider_unreachable', message, {
        hint: 'Start the provider of the master key, or correct its address; security.master_key_wait says how long a start waits for it. Nothing was changed.',
      })
    case 'denied':
      return new StartError('key_provider_denied', message, {
        hint: 'Give this node a credential that may use the key of the provider; docs/guide/master-key.md shows what it has to be allowed. Nothing was changed.',
      })
    case 'refused':
    case 'malformed':
      return new StartError('key_provider_failed', message, {
        hint: 'Compare the address of the provider and the name of the key with those of the other nodes, and what answers there with docs/formats/key-service.md. Nothing was changed.',
      })
  }
}

async function openLine(line: WrappedLine, provider: KeyProvider, signal: AbortSignal): Promise<PlainLine> {
  const secret = await provider.unwrap(line.wrapped, signal)
  if (secret.length === KEY_BYTES) {
    const opened = plainLine(line.id, secret)
    if (opened.fingerprint === line.fingerprint) return opened
  }
  throw new StartError(
    'master_key_mismatch',
    `The provider opened the line of master key '${line.id}' to something other than this key`,
    {
      hint: 'Compare the name of the key and the address of the provider with those of the other nodes, and the key file with its backup. Nothing was changed.',
    },
  )
}

async function openWithPatience(
  lines: readonly KeyLine[],
  provider: KeyProvider,
  { waitMs, signal, onWait }: Waiting,
): Promise<readonly PlainLine[]> {
  const until = performance.now() + waitMs
  const limit = AbortSignal.timeout(Math.max(waitMs, TRY_MS_MIN))
  const either = signal === undefined ? limit : AbortSignal.any([limit, signal])
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    let reason: string
    try {
      return await openLines(lines, provider, either)
    } catch (cause) {
      signal?.throwIfAborted()
      const isWorthwhile = cause instanceof ProviderError && cause.fault === 'unreachable'
      if (!isWorthwhile || performance.now() + pauseMs > until) throw startErrorOf(cause)
      reason = cause.message
    }
    await onWait?.(reason)
    await pause(pauseMs, undefined, { signal: either }).catch(() => undefined)
    signal?.throwIfAborted()
  }
}
