/**
 * The key with which a data directory seals its metadata, in a file of that directory. docs/formats/sealed-metadata.md
 *
 * Owns: the file, and that it opens with every master key that the node has. Knows nothing of: what is sealed.
 * Rules: a directory is sealed from its first byte or never, so one that holds a log or a state is never given a key; the key is durable and was opened again
 * before it is used; a file that no master key opens refuses the start, and nothing is changed.
 */
import { hash, randomBytes } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { METADATA_KEY_BYTES, METADATA_KEY_FILE, StartError, syncDirectory } from '../../cluster/index.ts'
import type { MasterKey } from './master-key.ts'

const FORMAT = 1
const CONTEXT = 'metadata key of a data directory'
/** What holds rows or entries. */
const HOLDERS: ReadonlySet<string> = new Set(['raft', 'state', 'audit', 'members.json'])

export interface MetadataKeySettings {
  readonly dataDir: string
  readonly sealMetadata: boolean
}

/**
 * Null: the directory is not sealed. Makes a key for a new directory where the settings ask for it, and wraps an old one again when the master keys have changed.
 * Throws StartError `metadata_key_mismatch`, `metadata_key_malformed` or `metadata_key_unopened`.
 */
export async function openMetadataKey(
  { dataDir, sealMetadata }: MetadataKeySettings,
  masterKey: MasterKey,
): Promise<Uint8Array | null> {
  const wrapped = await readWrapped(dataDir)
  if (wrapped === null) return sealMetadata ? await found(dataDir, masterKey) : null
  if (!sealMetadata) throw isSealed(dataDir)
  const key = opened(dataDir, wrapped, masterKey)
  const sealers = new Set(wrapped.map((one) => masterKey.sealerOf(one, CONTEXT)))
  const isWhole = wrapped.length === masterKey.ids.length && masterKey.ids.every((id) => sealers.has(id))
  if (!isWhole) await write(dataDir, key, masterKey)
  return key
}

/** As it is, without a change: for a stopped node. Null: the directory is not sealed. Throws StartError. */
export async function readMetadataKey(dataDir: string, masterKey: MasterKey): Promise<Uint8Array | null> {
  const wrapped = await readWrapped(dataDir)
  return wrapped === null ? null : opened(dataDir, wrapped, masterKey)
}

async function found(dataDir: string, masterKey: MasterKey): Promise<Uint8Array> {
  const holders = (await namesIn(dataDir)).filter((name) => HOLDERS.has(name))
  if (holders.length > 0) throw isPlain(dataDir, holders)
  const key = randomBytes(METADATA_KEY_BYTES)
  await write(dataDir, key, masterKey)
  return key
}

/** Wrapped by each master key of the node, so that it opens while keys are exchanged; read back before it counts. */
async function write(dataDir: string, key: Uint8Array, masterKey: MasterKey): Promise<void> {
  const wrapped = masterKey.sealWithEach(key, CONTEXT).map((one) => Buffer.from(one).toString('base64'))
  const line = JSON.stringify({ format: FORMAT, wrapped })
  const draft = join(dataDir, `${METADATA_KEY_FILE}.tmp`)
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${line}\n${hash('sha256', line)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  const text = await readFile(draft, 'utf8')
  if (!Buffer.from(opened(dataDir, parse(dataDir, text), masterKey)).equals(key)) throw malformed(dataDir)
  await rename(draft, join(dataDir, METADATA_KEY_FILE))
  await syncDirectory(dataDir)
}

async function readWrapped(dataDir: string): Promise<readonly Uint8Array[] | null> {
  let text: string
  try {
    text = await readFile(join(dataDir, METADATA_KEY_FILE), 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new StartError('metadata_key_malformed', `Cannot read ${join(dataDir, METADATA_KEY_FILE)}`, {
      cause,
      hint: 'Let this user read the file, and start the node again. Nothing was changed.',
    })
  }
  return parse(dataDir, text)
}

function parse(dataDir: string, text: string): readonly Uint8Array[] {
  const [line = '', sum = ''] = text.split('\n')
  // Against damage: who can write the file can write both lines.
  const checksum = hash('sha256', line)
  if (checksum !== sum) throw malformed(dataDir)
  const { format, wrapped } = JSON.parse(line) as { readonly format: unknown; readonly wrapped: unknown }
  if (format !== FORMAT || !Array.isArray(wrapped)) throw malformed(dataDir)
  return wrapped.map((one) => Buffer.from(String(one), 'base64'))
}

function opened(dataDir: string, wrapped: readonly Uint8Array[], masterKey: MasterKey): Uint8Array {
  const one = wrapped.find((sealed) => masterKey.sealerOf(sealed, CONTEXT) !== null)
  if (one !== undefined) return masterKey.open(one, CONTEXT)
  throw new StartError(
    'metadata_key_unopened',
    `Cannot open the metadata key in ${join(dataDir, METADATA_KEY_FILE)}: no master key of this node opens it`,
    {
      hint: 'Give this node the master key with which it was started last, as a further line of security.master_key_file; or, with the other nodes up, move the whole data directory away and let this node join again. Nothing was changed.',
    },
  )
}

async function namesIn(dataDir: string): Promise<readonly string[]> {
  try {
    return await readdir(dataDir)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    throw cause
  }
}

function isPlain(dataDir: string, holders: readonly string[]): StartError {
  return new StartError(
    'metadata_key_mismatch',
    `Cannot seal the metadata in ${dataDir}: it holds '${holders.join("', '")}' already, which are not sealed`,
    {
      hint: 'node.seal_metadata counts from the first start of a data directory. With the other nodes up, replace this node with an empty directory as deploy/runbooks/seal-metadata.md says; or set node.seal_metadata: false. Nothing was changed.',
    },
  )
}

function isSealed(dataDir: string): StartError {
  return new StartError(
    'metadata_key_mismatch',
    `Cannot start without sealed metadata: ${dataDir} is sealed, and node.seal_metadata is false`,
    {
      hint: 'Set node.seal_metadata: true; or, with the other nodes up, replace this node with an empty directory as deploy/runbooks/seal-metadata.md says. Nothing was changed.',
    },
  )
}

function malformed(dataDir: string): StartError {
  return new StartError(
    'metadata_key_malformed',
    `Cannot use ${join(dataDir, METADATA_KEY_FILE)}: it is damaged, or of another format`,
    {
      hint: 'Put back a copy of exactly this file; or, with the other nodes up, move the whole data directory away and let this node join again. Without the file nothing in it can be read. Nothing was changed.',
    },
  )
}
