/**
 * What lies at the directories that a node is to use for blobs, and whether it may start with that.
 *
 * Owns: the list of directories, and the refusals. Nothing is written here.
 * Rule: the directory of a node with one disk belongs to the list as long as it exists; if the settings do not name it, it is emptied.
 */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../base/types.ts'
import { type Admission, admitDisk } from './disk-admission.ts'
import { type DirectoryFound, type DiskOwner, lookAtDirectory } from './disk-identity.ts'
import { type KnownDisk, readDiskRecord } from './disk-record.ts'

export interface DisksExpected extends DiskOwner {
  readonly dataDir: string
  /** Absolute, each once. */
  readonly directories: readonly string[]
}

export interface FoundDisk {
  readonly directory: string
  /** False: no new copy is to be stored there. */
  readonly isListed: boolean
  readonly known: KnownDisk | null
  /** Of a directory whose disk cannot be read: the error. */
  readonly admission:
    | Exclude<Admission, { kind: 'refuse' }>
    | { readonly kind: 'failed'; readonly cause: unknown }
}

export const firstDirectory = (dataDir: string): string => join(dataDir, 'blobs')

/** Throws StartError `blob_directory_unusable`. */
export async function findDisks(expected: DisksExpected): Promise<readonly FoundDisk[]> {
  const { dataDir, directories } = expected
  const record = await recordOf(dataDir)
  const first = firstDirectory(dataDir)
  const isFirstLeft = !directories.includes(first) && (await lookAtDirectory(first)).isThere
  const found: FoundDisk[] = []
  const taken = new Set<string>()
  for (const directory of isFirstLeft ? [...directories, first] : directories) {
    const known = record.find((disk) => disk.directory === directory) ?? null
    const admission = await admissionOf({ directory, known, isFirst: directory === first }, expected, taken)
    if (admission.kind === 'serve') taken.add(admission.diskId)
    found.push({ directory, isListed: directory !== first || !isFirstLeft, known, admission })
  }
  return found
}

/** What a start would refuse. Throws StartError `blob_directory_unusable`. */
export async function examineBlobDirectories(expected: DisksExpected): Promise<void> {
  await findDisks(expected)
}

async function admissionOf(
  place: { readonly directory: string; readonly known: KnownDisk | null; readonly isFirst: boolean },
  owner: DiskOwner,
  taken: ReadonlySet<string>,
): Promise<FoundDisk['admission']> {
  const { directory, known, isFirst } = place
  let found: DirectoryFound
  try {
    found = await lookAtDirectory(directory)
  } catch (cause) {
    if (known !== null) return { kind: 'failed', cause }
    throw unusable(
      `'${directory}' cannot be read`,
      'Name a directory that this user may read and write.',
      cause,
    )
  }
  const admission = admitDisk({ directory, found, knownId: known?.diskId ?? null, isFirst }, owner, taken)
  if (admission.kind === 'refuse') throw unusable(admission.why, admission.advice)
  if (admission.kind === 'make' && !isFirst) await assertWritable(directory)
  return admission
}

async function assertWritable(directory: string): Promise<void> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(`'${directory}' is not writable`, 'Give it to the user of this node.', cause)
  }
}

async function recordOf(dataDir: string): Promise<readonly KnownDisk[]> {
  try {
    return await readDiskRecord(dataDir)
  } catch (cause) {
    throw unusable(
      `'${join(dataDir, 'disks.json')}' cannot be read`,
      'Restore it from the directories: each has its id in disk.json, see docs/formats/disks.md.',
      cause,
    )
  }
}

export function unusable(why: string, advice: string, cause?: unknown): StartError {
  return new StartError(
    'blob_directory_unusable',
    `Cannot use a directory of node.blob_directories: ${why}`,
    {
      hint: advice,
      cause,
    },
  )
}
