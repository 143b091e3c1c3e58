/**
 * Buckets and objects of another store, page by page. [AWS S3 API reference: ListBuckets, ListObjectsV2, GetObjectTagging]
 *
 * Owns: how a page is asked for again. Rule: one page is in memory.
 */
import { MalformedXmlError, type ReadElement, readXml, type XmlBounds } from '../../api/s3/xml/read-xml.ts'
import {
  type ListedObject,
  type ListingPage,
  listingPage,
  OddListingError,
  pageQuery,
} from '../../s3-client/object-listing.ts'
import { CommandError } from '../base/exit.ts'
import { drop, type SourceClient, type SourceRequest } from './source-client.ts'

/** Ten thousand buckets, or a thousand objects, and what stores add to them. */
const BOUNDS: XmlBounds = { bytesMax: 16 * 1024 * 1024, elementsMax: 200_000, depthMax: 16 }

export type ListedSource = ListedObject

export async function* sourceBuckets(client: SourceClient): AsyncGenerator<string> {
  for (let token: string | null = null; ; ) {
    const query: Record<string, string> = token === null ? {} : { 'continuation-token': token }
    const root = await xmlOf(client, { action: 'ListBuckets', query })
    for (const bucket of root.needed('Buckets').childrenNamed('Bucket'))
      yield bucket.needed('Name').text.trim()
    token = advanced(token, root.textOf('ContinuationToken')?.trim() || null)
    if (token === null) return
  }
}

/** The most that S3 answers. */
const PAGE_KEYS = 1000

export async function* sourceObjects(
  client: SourceClient,
  {
    bucket,
    prefix,
    pageKeys = PAGE_KEYS,
  }: { readonly bucket: string; readonly prefix: string; readonly pageKeys?: number },
): AsyncGenerator<ListedSource> {
  for (let token: string | null = null; ; ) {
    const query = pageQuery(prefix, { token, maxKeys: pageKeys })
    const page = pageOf(await xmlOf(client, { action: 'ListObjectsV2', bucket, query }), token)
    yield* page.objects
    token = page.next
    if (token === null) return
  }
}

function pageOf(root: ReadElement, token: string | null): ListingPage {
  try {
    return listingPage(root, token)
  } catch (cause) {
    throw cause instanceof OddListingError ? odd(cause.message, cause) : cause
  }
}

function advanced(before: string | null, next: string | null): string | null {
  if (next !== null && next === before) throw odd('A listing continues with the page that it has just shown')
  return next
}

export async function sourceTags(
  client: SourceClient,
  { bucket, key }: { readonly bucket: string; readonly key: string },
): Promise<Readonly<Record<string, string>>> {
  const root = await xmlOf(client, { action: 'GetObjectTagging', bucket, key, query: { tagging: '' } })
  const tags = root.child('TagSet')?.childrenNamed('Tag') ?? []
  return Object.fromEntries(tags.map((tag) => [tag.needed('Key').text, tag.textOf('Value') ?? '']))
}

/** Of one page whose connection broke, in a row. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MS = 200

async function xmlOf(client: SourceClient, request: SourceRequest): Promise<ReadElement> {
  for (let attempts = 1; ; attempts++) {
    const { body } = await client.ask(request)
    try {
      const root = await readXml(body, BOUNDS)
      // Some stores begin to answer before they know that they cannot.
      if (root.name !== 'Error') return root
      throw odd(
        `${request.action} was answered ${root.textOf('Code') ?? ''}: ${root.textOf('Message') ?? ''}`,
      )
    } catch (cause) {
      drop(body)
      if (cause instanceof CommandError) throw cause
      if (cause instanceof MalformedXmlError)
        throw odd(`The answer to ${request.action} cannot be read: ${cause.message}`, cause)
      if (attempts === ATTEMPTS_MAX) throw cause
    }
    await client.wait(FIRST_WAIT_MS * 2 ** (attempts - 1))
  }
}

function odd(message: string, cause?: unknown): CommandError {
  return new CommandError(message, {
    code: 'source_not_understood',
    hint: 'Check that --endpoint is the address of a store that speaks S3 with ListObjectsV2.',
    cause,
  })
}
