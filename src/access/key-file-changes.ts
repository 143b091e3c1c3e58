/**
 * Changes of a key file: a first key, one more, and the same keys wrapped otherwise.
 *
 * Owns: what a file holds afterwards. Rules: a file is replaced as a whole and only when every line that is written was opened again and
 * is the key that it says; keys are made here, so that a provider never chooses them.
 */
import { StartError } from '../../cluster/index.ts'
import { MASTER_KEYS_MAX } from '../state-machine/master-keys/limits.ts'
import {
  type KeyLine,
  newLine,
  parseKeyLines,
  type PlainLine,
  plainOnly,
  requireProvider,
  textOfLine,
} from './key-lines.ts'
import type { KeyProvider } from './key-providers/key-provider.ts'
import { openProvider } from './key-providers/open-provider.ts'
import { createKeyFile, readKeyFile, replaceKeyFile } from './master-key-file.ts'
import { type KeySettings, openLines, readKeyLines, startErrorOf, wrapLine } from './provided-keys.ts'

/** For all exchanges of one change. */
const CHANGE_MS_MAX = 120_000

export interface ChangedFile {
  readonly file: string
  /** The newest first. */
  readonly ids: readonly string[]
}

type Settings = Pick<KeySettings, 'masterKeyFile' | 'keyProvider'>
const PLAIN: Settings['keyProvider'] = { kind: 'file' }

/** A file with one new key, durable when this resolves. Throws StartError `master_key_exists`, and as loadMasterKey(). */
export async function createKey(file: string, keyProvider = PLAIN): Promise<ChangedFile> {
  return withProvider(keyProvider, async (provider, signal) => {
    const line = newLine()
    await createKeyFile(file, textOfLine(await writtenBy(provider, line, signal)))
    return { file, ids: [line.id] }
  })
}

/** Puts a new key in front of those in the file. Throws StartError as loadMasterKey(), `master_key_unwritable`. */
export async function addKey(settings: Settings): Promise<ChangedFile> {
  const { masterKeyFile: file, keyProvider } = settings
  const present = await readKeyLines(settings)
  if (present.length === MASTER_KEYS_MAX) {
    throw new StartError('master_key_unwritable', `Master key file '${file}' holds ${MASTER_KEYS_MAX} keys`, {
      hint: 'Remove the lines of keys that nothing is sealed under any more, see deploy/runbooks/rotate-master-key.md.',
    })
  }
  return withProvider(keyProvider, async (provider, signal) => {
    const added = await writtenBy(provider, newLine(), signal)
    return replaced(file, [added, ...present])
  })
}

/**
 * The same keys in the same order, wrapped under the newest version of the provider's key, or plain for `file`. `from`: the provider that
 * opens what is there now; plain lines need none. Throws StartError as loadMasterKey().
 */
export async function rewrapKeys(
  { masterKeyFile: file, keyProvider }: Settings,
  from: Settings['keyProvider'],
): Promise<ChangedFile> {
  const present = parseKeyLines(file, await readKeyFile(file))
  const opened = await withProvider(from, async (provider, signal) => {
    if (provider === null) return plainOnly(file, present)
    requireProvider(
      file,
      present.filter(({ form }) => form === 'wrapped'),
      provider.name,
    )
    return openLines(present, provider, signal)
  })
  return withProvider(keyProvider, async (provider, signal) => {
    const lines: KeyLine[] = []
    for (const line of opened) lines.push(await writtenBy(provider, line, signal))
    return replaced(file, lines)
  })
}

async function replaced(file: string, lines: readonly KeyLine[]): Promise<ChangedFile> {
  await replaceKeyFile(file, lines.map(textOfLine).join(''))
  return { file, ids: lines.map(({ id }) => id) }
}

async function writtenBy(
  provider: KeyProvider | null,
  line: PlainLine,
  signal: AbortSignal,
): Promise<KeyLine> {
  return provider === null ? line : wrapLine(line, provider, signal)
}

async function withProvider<T>(
  settings: Settings['keyProvider'],
  work: (provider: KeyProvider | null, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const provider = await openProvider(settings)
  try {
    return await work(provider, AbortSignal.timeout(CHANGE_MS_MAX))
  } catch (cause) {
    throw startErrorOf(cause)
  } finally {
    await provider?.close()
  }
}
