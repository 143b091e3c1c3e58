/**
 * `holdfast get`, `cp` and `rm` with a pattern: the same for every object that matches.
 *
 * Rule: a name below the target is the key without the folder in which the pattern begins, so equal names of several folders stay apart.
 */
import { stat } from 'node:fs/promises'
import { useMaskOfCaller } from '../../base/private-files.ts'
import { askData } from '../base/asking.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { isPattern } from '../base/glob.ts'
import { orInterrupted } from '../base/interruption.ts'
import { downloadToFile } from '../objects/file-download.ts'
import { type GetOptions, getObject } from '../objects/get-command.ts'
import { copy, type CopyOptions } from '../objects/object-commands.ts'
import { remove, removeBatches, type RemoveOptions } from '../objects/remove-command.ts'
import { type RemotePath, remotePath } from '../objects/remote-path.ts'
import { isFilePath } from '../sync/entry.ts'
import { fileFor } from '../sync/local-side.ts'
import { asFolder } from '../sync/remote-side.ts'
import { reportMany } from './many-report.ts'
import { matchingOf, onePerItem } from './matching.ts'

export async function getMatching(
  path: string,
  file: string | undefined,
  options: GetOptions,
): Promise<number> {
  const from = remotePath(path)
  if (!isPattern(from.key)) return getObject(path, file, options)
  return askData(options, async (client) => {
    const matching = options.versionId === undefined ? await matchingOf(client, from) : null
    if (matching === null) return getObject(path, file, options)
    const root = await folderAt(file ?? '.')
    useMaskOfCaller()
    return orInterrupted('Files that were downloaded stay.', (signal) =>
      reportMany(onePerItem(matching.pages()), 'downloaded', options, async ({ key }) => {
        const name = key.slice(matching.folder.length)
        if (!isFilePath(name)) throw notAFileName(key)
        const target = await fileFor(root, name)
        const got = await downloadToFile(client, { path: target, bucket: from.bucket, key, signal })
        return { ...got, file: target }
      }),
    )
  })
}

async function folderAt(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory() === true) return path
  throw new CommandError(`'${path}' is not a folder`, {
    code: 'invalid_argument',
    hint: 'Several objects go into a folder; create it first.',
    exitCode: EXIT.usage,
  })
}

function notAFileName(key: string): CommandError {
  return new CommandError(`'${key}' is not a possible file name`, {
    code: 'no_file_name',
    hint: 'Download it by its own name, into a file.',
  })
}

export async function copyMatching(from: string, to: string, options: CopyOptions): Promise<number> {
  const source = remotePath(from)
  if (!isPattern(source.key)) return copy(from, to, options)
  return askData(options, async (client) => {
    const matching = options.versionId === undefined ? await matchingOf(client, source) : null
    if (matching === null) return copy(from, to, options)
    const target = folderIn(to)
    return reportMany(onePerItem(matching.pages()), 'copied', options, async ({ key }) => {
      const params = { bucket: target.bucket, key: target.key + key.slice(matching.folder.length) }
      const body = { sourceBucket: source.bucket, sourceKey: key }
      return { ...(await client.call('copyObject', { params, body })).answer }
    })
  })
}

/** Throws CommandError unless it is a bucket, or a prefix with a slash at its end. */
export function folderIn(to: string): RemotePath {
  const target = remotePath(to)
  if (target.key === '' || target.key.endsWith('/')) return asFolder(target)
  throw new CommandError(`'${to}' is one object, and several are meant`, {
    code: 'invalid_argument',
    hint: `Name a bucket, or a prefix with a slash at its end: ${to}/`,
    exitCode: EXIT.usage,
  })
}

export async function removeMatching(path: string, options: RemoveOptions): Promise<number> {
  const target = remotePath(path)
  const isLiteral = options.recursive === true || options.versionId !== undefined
  if (isLiteral || !isPattern(target.key)) return remove(path, options)
  return askData(options, async (client) => {
    const matching = await matchingOf(client, target)
    if (matching === null) return remove(path, options)
    return removeBatches(client, target.bucket, batchesOf(matching.pages()), options)
  })
}

async function* batchesOf(
  pages: AsyncIterable<readonly { readonly key: string }[]>,
): AsyncGenerator<readonly { readonly key: string }[]> {
  for await (const page of pages) yield page.map(({ key }) => ({ key }))
}
