/**
 * `holdfast bucket usage`: the counts of one bucket, or of all.
 *
 * Rule: the counts come from the bucket rows; no object is listed for them.
 */
import type { Bucket } from '../../client/generated/data-operations.ts'
import { askData, pagesOf } from '../base/asking.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printTable, sizeText } from '../base/printing.ts'
import type { BucketOptions } from './bucket-commands.ts'

export function showBucketUsage(bucket: string, { json = false, ...access }: BucketOptions): Promise<number> {
  return askData(access, async (client) => {
    const { answer } = await client.call('getBucketUsage', { params: { bucket } })
    if (json) printJson(answer)
    else
      printFacts({
        bucket: answer.bucket,
        at: answer.asOf,
        objects: answer.objects,
        versions: answer.versions,
        'delete markers': answer.deleteMarkers,
        'bytes of versions': `${answer.logicalBytes} (${sizeText(answer.logicalBytes)})`,
        'unfinished uploads': answer.multipartUploads,
        'bytes of unfinished uploads': `${answer.multipartBytes} (${sizeText(answer.multipartBytes)})`,
      })
    return EXIT.done
  })
}

/** One line for each bucket, in the order of names. */
export function showBucketUsages({ json = false, ...access }: BucketOptions): Promise<number> {
  return askData(access, async (client) => {
    const rows: string[][] = [['SIZE'.padStart(10), 'OBJECTS', 'VERSIONS', 'MARKERS', 'BUCKET']]
    let hidden = 0
    const pages = pagesOf((from) => client.call('listBuckets', { query: { ...from, include: 'usage' } }))
    for await (const { buckets } of pages)
      for (const { name, usage } of buckets) {
        if (usage === undefined) hidden++
        else if (json) printJson({ bucket: name, ...usage })
        else rows.push(rowOf(name, usage))
      }
    if (!json && rows.length > 1) printTable(rows)
    if (hidden > 0) note(`Not shown: ${hidden} buckets that this key may not read as a whole`)
    return EXIT.done
  })
}

function rowOf(name: string, usage: NonNullable<Bucket['usage']>): string[] {
  const { logicalBytes, objects, versions, deleteMarkers } = usage
  return [sizeText(logicalBytes).padStart(10), `${objects}`, `${versions}`, `${deleteMarkers}`, name]
}
