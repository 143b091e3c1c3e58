/**
 * `holdfast complete`: the buckets, folders and objects that begin with a word, for the completion of a shell.
 *
 * Rules: it never reports an error, because a person is typing; it gives up after ANSWER_MS_MAX. Names that a shell would have to quote are
 * left out.
 */
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printJson, printLine } from '../base/printing.ts'
import type { DataClient } from '../../client/clients.ts'
import { isLocalPath, remotePath } from './remote-path.ts'

export interface CompleteOptions extends DataAccessOptions {
  readonly json?: boolean
}

const ANSWER_MS_MAX = 2_000
const NAMES_MAX = 100

export async function complete(word: string, options: CompleteOptions): Promise<number> {
  try {
    const names = await askData(options, (client) => namesFor(client, word), { attemptsMax: 1 })
    for (const name of names.filter((one) => /^[\w./+=@,-]+$/.test(one)))
      if (options.json) printJson({ name })
      else printLine(name)
    return EXIT.done
  } catch {
    return EXIT.failed
  }
}

async function namesFor(client: DataClient, word: string): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  if (isLocalPath(word)) return []
  if (!word.includes('/')) {
    const query = { prefix: word, maxBuckets: NAMES_MAX }
    const { answer } = await client.call('listBuckets', { query, signal })
    return answer.buckets.map(({ name }) => `${name}/`)
  }
  const { bucket, key: prefix } = remotePath(word)
  const query = { prefix, delimiter: '/', maxKeys: NAMES_MAX }
  const { answer } = await client.call('listObjects', { params: { bucket }, query, signal })
  const keys = [...answer.commonPrefixes, ...answer.objects.map(({ key }) => key)]
  return keys.map((key) => `${bucket}/${key}`)
}
