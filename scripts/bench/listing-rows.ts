/**
 * The bucket for the measurement of listings: small objects in folders, some of them with an older version.
 *
 * Owns: their keys and how they are stored, in large entries through the state machine. Rule: records are as long as those of
 * real uploads; otherwise the figures would be for smaller rows than real ones.
 */
import { createHash } from 'node:crypto'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import type { LevelStateMachine } from '../../src/store/apply/level-state-machine.ts'

export const LARGE_BUCKET = 'photos'
export const FOLDERS_BUCKET = 'folders'
export const OVERWRITTEN_EVERY = 10
const KEYS_PER_FOLDER = 500
const COMMANDS_PER_ENTRY = 1000
const SEALED_BYTES = 128
const OBJECTS_PER_REPORT = 100_000

const FOLDERS_PER_SHAPE = 1000

/** In a second bucket, each below a name of its own: as many folders as fill a page. */
interface FolderShape {
  readonly name: string
  readonly keysPerFolder: number
  readonly folder: (n: number) => string
  /** All but the last key of each folder have a delete marker above them. */
  readonly hasMarkers?: boolean
}

const numbered = (n: number): string => n.toString().padStart(6, '0')
const hashed = (n: number): string => createHash('sha256').update(`${n}`).digest('hex').slice(0, 24)
const LONG_PATH = 'a-rather-long-name/'.repeat(20)

export const FOLDER_SHAPES: readonly FolderShape[] = [
  ...[1, 2, 10, 30, 100, 1000].map((size) => ({ name: `of-${size}`, keysPerFolder: size, folder: numbered })),
  { name: 'hashed-of-100', keysPerFolder: 100, folder: hashed },
  { name: 'deep-of-100', keysPerFolder: 100, folder: (n) => `${LONG_PATH}${numbered(n)}` },
  { name: 'markers-of-100', keysPerFolder: 100, folder: numbered, hasMarkers: true },
]

/** What to ask a page of folders with. */
export function prefixOf({ name, folder }: FolderShape): string {
  const path = `${name}/${folder(0)}`
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** In the order of keys. */
export function keyAt(n: number): string {
  const folder = Math.floor(n / KEYS_PER_FOLDER)
  return `folder-${folder.toString().padStart(6, '0')}/picture-${n.toString().padStart(9, '0')}.jpeg`
}

export async function fillBucket(
  machine: LevelStateMachine,
  count: number,
  say: (text: string) => void,
): Promise<void> {
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const lock = { bucketsMax: 2, versioning: 'Enabled', objectLockEnabled: false } as const
  let index = 0
  const commit = async (commands: readonly Command[]): Promise<void> => {
    index++
    const entry = {
      index,
      time: 1_800_000_000_000 + index,
      confirmedTime: 1_800_000_000_000 + index,
      orderTime: 1_800_000_000_000 + index,
      featureLevel: FEATURE_LEVEL,
      commands: commands.map(encodeCommand),
    }
    await machine.apply({ entries: [entry], record: Buffer.from(`${index}`) })
  }
  await commit([
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: LARGE_BUCKET, ...lock },
    { type: 'createBucket', tenantId: 'acme', name: FOLDERS_BUCKET, ...lock },
  ])
  for (const every of [1, OVERWRITTEN_EVERY]) {
    for (let n = 0; n < count; n += every * COMMANDS_PER_ENTRY) {
      const end = Math.min(count, n + every * COMMANDS_PER_ENTRY)
      const commands: Command[] = []
      for (let at = n; at < end; at += every)
        commands.push(putOf(at, { bucket: LARGE_BUCKET, key: keyAt(at) }))
      await commit(commands)
      if (every === 1 && end % OBJECTS_PER_REPORT === 0) say(`${end} ...`)
    }
  }
  const commands: Command[] = []
  for (const command of commandsOfFolders()) {
    commands.push(command)
    if (commands.length === COMMANDS_PER_ENTRY) await commit(commands.splice(0))
  }
  if (commands.length > 0) await commit(commands)
}

function* commandsOfFolders(): Generator<Command> {
  let puts = 0
  for (const { name, keysPerFolder, folder, hasMarkers } of FOLDER_SHAPES)
    for (let n = 0; n < FOLDERS_PER_SHAPE; n++)
      for (let at = 0; at < keysPerFolder; at++) {
        const key = `${name}/${folder(n)}/picture-${at.toString().padStart(9, '0')}.jpeg`
        yield putOf(puts++, { bucket: FOLDERS_BUCKET, key })
        if (hasMarkers === true && at < keysPerFolder - 1) yield removalOf({ bucket: FOLDERS_BUCKET, key })
      }
}

function removalOf(name: { readonly bucket: string; readonly key: string }): Command {
  return { type: 'deleteObject', tenantId: 'acme', ...name, versionId: null, ifMatch: null }
}

export function putOf(n: number, name: { readonly bucket: string; readonly key: string }): Command {
  const id = createHash('sha256').update(`${n}`).digest('hex')
  return {
    type: 'putObject',
    tenantId: 'acme',
    ...name,
    size: SEALED_BYTES - 16,
    etag: `${id.slice(0, 32)}-1`,
    contentType: 'image/jpeg',
    checksums: { CRC64NVME: Buffer.from(id.slice(0, 16), 'hex').toString('base64') },
    metadata: { camera: 'x100' },
    masterKeyId: 'mk-1',
    body: { kind: 'inline', chunkId: id, sealed: Buffer.alloc(SEALED_BYTES, id) },
    precondition: { ifMatch: null, ifNoneMatch: null },
    idempotency: null,
    tags: {},
    retention: null,
    legalHold: false,
  }
}
