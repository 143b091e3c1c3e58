/**
 * `holdfast get`: an object into a file, or to standard output.
 */
import { basename } from 'node:path'
import { useMaskOfCaller } from '../../base/private-files.ts'
import type { DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { orInterrupted } from '../base/interruption.ts'
import { note, printable, printJson, sizeText } from '../base/printing.ts'
import { type Progress, progressOn } from '../base/progress.ts'
import { download, type Downloaded } from './download.ts'
import { downloadToFile } from './file-download.ts'
import { targetFile, writeToStandardOutput } from './local-files.ts'
import { objectPath, type RemotePath } from './remote-path.ts'

export interface GetOptions extends DataAccessOptions {
  readonly versionId?: string
  readonly progress: boolean
  readonly json?: boolean
}

export async function getObject(
  path: string,
  file: string | undefined,
  options: GetOptions,
): Promise<number> {
  const from = objectPath(path)
  if (file === '-' && options.json) throw bytesAndJson()
  useMaskOfCaller()
  const target = file === '-' ? null : await targetFile(file ?? basename(from.key), from.key)
  const progress = progressOn(process.stderr, from.key, options.progress)
  try {
    const got = await askData(options, (client) =>
      orInterrupted(INTERRUPTED, (signal) => {
        const fetch = { from, options, progress, signal }
        return target === null ? toStandardOutput(client, fetch) : toFile(client, fetch, target)
      }),
    )
    progress.end()
    if (options.json) printJson({ ...got, file: target })
    else if (target !== null) note(`${printable(target)}  ${sizeText(got.size)}  verified`)
    return EXIT.done
  } catch (cause) {
    progress.end()
    throw cause
  }
}

interface Fetch {
  readonly from: RemotePath
  readonly options: GetOptions
  readonly progress: Progress
  readonly signal: AbortSignal
}

const INTERRUPTED =
  'No file was written. What has arrived of a large object is kept beside it for the same command, which continues with it.'

const objectOf = ({ from, options: { versionId }, signal }: Fetch) => ({
  ...from,
  ...(versionId === undefined ? {} : { versionId }),
  signal,
})

function toFile(client: DataClient, fetch: Fetch, path: string): Promise<Downloaded> {
  const { expect: onSize, advance: onBytes } = fetch.progress
  return downloadToFile(client, { ...objectOf(fetch), path, onSize, onBytes })
}

function toStandardOutput(client: DataClient, fetch: Fetch): Promise<Downloaded> {
  const { progress } = fetch
  const onBytes = async (piece: Uint8Array): Promise<void> => {
    await writeToStandardOutput(piece)
    progress.advance(piece.length)
  }
  return download(client, { ...objectOf(fetch), onSize: progress.expect, onBytes })
}

function bytesAndJson(): CommandError {
  return new CommandError('Standard output cannot take the object and JSON at once', {
    code: 'invalid_argument',
    hint: 'Name a file, or omit --json.',
    exitCode: EXIT.usage,
  })
}
