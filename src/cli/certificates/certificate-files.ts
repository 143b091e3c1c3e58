/**
 * Certificates and their keys on disk, as `holdfast certs` writes and reads them.
 *
 * Owns: names and modes of the files. Knows nothing of: the contents of a certificate.
 * Rule: no file is ever overwritten: it may be the key that a cluster runs on.
 */
import { existsSync } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandError, EXIT } from '../base/exit.ts'
import type { KeyPair } from './authority.ts'

export interface PairFiles {
  readonly certificate: string
  readonly key: string
}

/** Enough for a PEM file of a few certificates; a larger file is another kind of file. */
const FILE_BYTES_MAX = 1024 * 1024

export const pairFiles = (folder: string, name: string): PairFiles => ({
  certificate: join(folder, `${name}.pem`),
  key: join(folder, `${name}.key`),
})

/** Durable when it resolves. Throws CommandError `certificate_exists`, with nothing written. */
export async function writePair(files: PairFiles, pair: KeyPair): Promise<void> {
  const there = [files.key, files.certificate].find((file) => existsSync(file))
  if (there !== undefined) throw existing(there)
  const folder = dirname(files.key)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeNew(files.key, pair.key)
  await writeNew(files.certificate, pair.certificate)
  const directory = await open(folder, 'r')
  await directory.sync().finally(() => directory.close())
}

export async function readPair(files: PairFiles): Promise<KeyPair> {
  return { certificate: await readPem(files.certificate), key: await readPem(files.key) }
}

/** Throws CommandError `certificate_unreadable`. */
export async function readPem(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'latin1')
    if (text.length <= FILE_BYTES_MAX) return text
  } catch (cause) {
    throw unreadable(file, 'Give the path of a file that this user may read.', cause)
  }
  throw unreadable(file, 'It is larger than 1 MiB: is it the right file?')
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EEXIST') throw existing(file)
    throw cause
  })
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function existing(file: string): CommandError {
  return new CommandError(`'${file}' already exists and is not overwritten`, {
    code: 'certificate_exists',
    hint: 'Name another folder; remove the old files when the new ones are in use.',
    exitCode: EXIT.refused,
  })
}

function unreadable(file: string, hint: string, cause?: unknown): CommandError {
  return new CommandError(`Cannot read '${file}'`, { code: 'certificate_unreadable', hint, cause })
}
