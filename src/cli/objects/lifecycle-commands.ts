/**
 * `holdfast bucket lifecycle`: what rules remove by age, set as a whole from a JSON file, and what they would do now.
 *
 * Rule: what `get` prints can be changed and given to `set` and `preview`.
 */
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { jsonInput, listIn } from '../base/json-input.ts'
import { note, printable, printJson, printLine, printTable } from '../base/printing.ts'

export interface LifecycleOptions extends DataAccessOptions {
  readonly json?: boolean
}

export interface PreviewOptions extends LifecycleOptions {
  readonly limit?: number
}

type Rules = DataOperations['setBucketLifecycle']['call']['body']['rules']
type Preview = DataOperations['previewBucketLifecycle']['answer']
type Totals = Pick<Preview, 'judgedAt' | 'rows' | 'counts' | 'bytes' | 'locked' | 'items'>

const EXAMPLE = '{"rules":[{"status":"Enabled","filter":{"prefix":"tmp/"},"expiration":{"days":30}}]}'
const ITEMS_USUAL = 20
const ITEMS_OF_ANSWER_MAX = 1_000

export function getLifecycle(bucket: string, options: LifecycleOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getBucketLifecycle', { params: { bucket } })
    if (options.json) printJson(answer)
    else printLine(JSON.stringify(answer, null, 2))
    return EXIT.done
  })
}

async function rulesIn(file: string): Promise<Rules> {
  const from = { file, what: 'lifecycle rules', example: EXAMPLE }
  return listIn(await jsonInput(file, from.what, from.example), 'rules', from) as Rules
}

export async function setLifecycle(bucket: string, file: string, options: LifecycleOptions): Promise<number> {
  const rules = await rulesIn(file)
  return askData(options, async (client) => {
    const { answer } = await client.call('setBucketLifecycle', { params: { bucket }, body: { rules } })
    if (options.json) printJson(answer)
    else note(`${bucket} has ${answer.rules.length} lifecycle rules now`)
    return EXIT.done
  })
}

export function deleteLifecycle(bucket: string, options: LifecycleOptions): Promise<number> {
  return askData(options, async (client) => {
    await client.call('deleteBucketLifecycle', { params: { bucket } })
    if (options.json) printJson({ bucket, deleted: true })
    else note(`${bucket} has no lifecycle rules now`)
    return EXIT.done
  })
}

/** Adds up all pages; the items are the first of them. */
export async function previewLifecycle(
  bucket: string,
  file: string | undefined,
  options: PreviewOptions,
): Promise<number> {
  const rules = file === undefined ? undefined : await rulesIn(file)
  const most = options.limit ?? ITEMS_USUAL
  return askData(options, async (client) => {
    const page = async (shown: number, token?: string): Promise<Preview> => {
      const limit = Math.min(most - shown, ITEMS_OF_ANSWER_MAX)
      const from = token === undefined ? {} : { continuationToken: token }
      const body = { ...(rules === undefined ? {} : { rules }), limit, ...from }
      return (await client.call('previewBucketLifecycle', { params: { bucket }, body })).answer
    }
    const first = await page(0)
    let [total, token]: [Totals, string | undefined] = [first, first.nextContinuationToken]
    while (token !== undefined) {
      const next = await page(total.items.length, token)
      total = sum(total, next)
      token = next.nextContinuationToken
    }
    if (options.json) printJson(withoutPage(total))
    else show(total)
    return EXIT.done
  })
}

function withoutPage({ judgedAt, rows, counts, bytes, locked, items }: Totals): Totals {
  return { judgedAt, rows, counts, bytes, locked, items }
}

function sum(one: Totals, other: Totals): Totals {
  return {
    judgedAt: one.judgedAt,
    rows: one.rows + other.rows,
    counts: {
      expired: one.counts.expired + other.counts.expired,
      hidden: one.counts.hidden + other.counts.hidden,
      noncurrent: one.counts.noncurrent + other.counts.noncurrent,
      marker: one.counts.marker + other.counts.marker,
      upload: one.counts.upload + other.counts.upload,
    },
    bytes: one.bytes + other.bytes,
    locked: one.locked + other.locked,
    items: [...one.items, ...other.items],
  }
}

function show({ judgedAt, rows, counts, bytes, locked, items }: Totals): void {
  if (items.length > 0) printTable([['DOES', 'RULE', 'KEY', 'VERSION OR UPLOAD', 'BYTES'], ...items.map(row)])
  printLine(`objects removed: ${counts.expired}, hidden by a delete marker: ${counts.hidden}`)
  printLine(`noncurrent versions removed: ${counts.noncurrent}, delete markers removed: ${counts.marker}`)
  printLine(`uploads aborted: ${counts.upload}`)
  printLine(`bytes that would count no more: ${bytes}; kept by locks: ${locked}`)
  note(`looked at ${rows} versions and uploads by the cluster time ${judgedAt}; nothing was changed`)
}

function row({
  kind,
  ruleId,
  key,
  versionId,
  uploadId,
  bytes,
  lockedBy,
}: Preview['items'][number]): string[] {
  const what = lockedBy === undefined ? kind : 'locked'
  return [what, printable(ruleId), printable(key), versionId ?? uploadId ?? '', `${bytes}`]
}
