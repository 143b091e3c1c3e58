/**
 * `holdfast replication`: where buckets are replicated to, what is not there yet, and what differs.
 *
 * Rule: the key of the target comes from a file or the environment, never from the command line, which other users can read.
 */
import type { DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { askData, pagesOf } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson, printLine, printTable, sizeText } from '../base/printing.ts'
import { type RuleOptions, rulesIn } from '../base/replication-rules.ts'
import { sourceCredentials } from '../base/store-credentials.ts'

export interface ReplicationOptions extends DataAccessOptions {
  readonly json?: boolean
}

export interface SetReplicationOptions extends ReplicationOptions, RuleOptions {
  readonly to: string
  readonly targetBucket?: string
  readonly targetKeyFile?: string
  readonly region?: string
  readonly virtualHost?: boolean
  readonly existing?: boolean
  readonly allBuckets?: boolean
}

type Body = DataOperations['setBucketReplication']['call']['body']
type Status = DataOperations['getReplicationStatus']['answer']

export async function setReplication(
  bucket: string | undefined,
  options: SetReplicationOptions,
): Promise<number> {
  const { to, targetBucket, region, virtualHost, existing = false, allBuckets = false } = options
  if ((bucket === undefined) !== allBuckets)
    throw usage('Name one bucket, or give --all-buckets', 'holdfast replication set photos --to URL')
  if (allBuckets && targetBucket !== undefined)
    throw usage('--all-buckets sends each bucket to one of its own name', 'Leave --target-bucket out.')
  const { accessKeyId, secretKey } = sourceCredentials(options.targetKeyFile, {
    option: '--target-key-file',
    of: 'the target',
  })
  const rules: Body['rules'] = await rulesIn(options)
  const bodyFor = (name: string): Body => ({
    target: {
      endpoint: to,
      bucket: targetBucket ?? name,
      ...(region === undefined ? {} : { region }),
      ...(virtualHost === undefined ? {} : { virtualHost }),
      accessKeyId,
      secretKey,
    },
    ...(rules === undefined ? {} : { rules }),
    existing,
  })
  return askData(options, async (client) => {
    for await (const name of bucket === undefined ? allNames(client) : [bucket]) {
      const call = { params: { bucket: name }, body: bodyFor(name) }
      const { answer } = await client.call('setBucketReplication', call)
      if (options.json) printJson(bucket === undefined ? { bucket: name, ...answer } : answer)
      else note(`${name} is replicated to ${answer.target.bucket} at ${answer.target.endpoint} from now on`)
    }
    return EXIT.done
  })
}

async function* allNames(client: DataClient): AsyncGenerator<string> {
  for await (const { buckets } of pagesOf((from) => client.call('listBuckets', { query: from })))
    for (const { name } of buckets) yield name
}

export function showReplication(bucket: string, options: ReplicationOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getBucketReplication', { params: { bucket } })
    if (options.json) printJson(answer)
    else printLine(JSON.stringify(answer, null, 2))
    return EXIT.done
  })
}

export function removeReplication(bucket: string, options: ReplicationOptions): Promise<number> {
  return askData(options, async (client) => {
    await client.call('deleteBucketReplication', { params: { bucket } })
    if (options.json) printJson({ bucket, deleted: true })
    else note(`${bucket} is not replicated; what is at the other site stays there`)
    return EXIT.done
  })
}

export function showStatus(bucket: string, options: ReplicationOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getReplicationStatus', { params: { bucket } })
    if (options.json) printJson(answer)
    else printStatus(answer)
    return EXIT.done
  })
}

function printStatus({ failures, resync, pendingBytes, sentBytes, ...facts }: Status): void {
  printFacts({
    ...facts,
    pendingBytes: sizeText(pendingBytes),
    sentBytes: sizeText(sentBytes),
    ...(resync === null
      ? {}
      : {
          resync: `${resync.queued} queued, ${resync.notReplicable} not replicable, ${resync.endedAt === null ? 'under way' : `ended ${resync.endedAt}`}`,
        }),
  })
  if (failures.length === 0) return
  const rows = failures.map(({ kind, key, attempts, error }): string[] => {
    return [kind, printable(key), `${attempts}`, printable(error ?? '')]
  })
  printTable([['FAILED', 'KEY', 'ATTEMPTS', 'WHY'], ...rows])
}

export function resyncReplication(bucket: string, options: ReplicationOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('resyncBucketReplication', { params: { bucket } })
    if (options.json) printJson(answer)
    else note(`what ${bucket} holds is queued from now on; see holdfast replication status ${bucket}`)
    return EXIT.done
  })
}

export function retryReplication(bucket: string, options: ReplicationOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('retryBucketReplication', { params: { bucket } })
    if (options.json) printJson(answer)
    else note(`${answer.retried} changes of ${bucket} wait again`)
    return EXIT.done
  })
}

/** Ends with 1 when something differs that no change waits for and that can be sent. */
export function diffReplication(bucket: string, options: ReplicationOptions): Promise<number> {
  return askData(options, async (client) => {
    let [compared, waiting, unsent, others] = [0, 0, 0, 0]
    for await (const page of pagesOf((body) =>
      client.call('compareBucketReplication', { params: { bucket }, body }),
    )) {
      compared += page.compared
      for (const one of page.differences) {
        if (one.difference === 'waiting') waiting++
        else if (one.difference === 'not_replicable') unsent++
        else others++
        if (options.json) printJson(one)
        else printLine(`${one.difference.padEnd(14)}  ${printable(one.key)}`)
      }
    }
    note(`${compared} keys compared, ${others} differ, ${waiting} wait to be sent, ${unsent} not replicable`)
    return others === 0 ? EXIT.done : EXIT.failed
  })
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
