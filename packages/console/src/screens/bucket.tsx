/**
 * What a bucket holds below a prefix: browse, search, upload, open.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { BY_KEY } from '../parts/access.ts'
import { Badge, Button, Card, FaultNotice, Notice, Skeleton, Time } from '../parts/basics.tsx'
import { LineButton } from '../parts/curl-line.tsx'
import { Field } from '../parts/form.tsx'
import { Rows } from '../parts/rows.tsx'
import { filesIn, filesOf } from '../state/dropped.ts'
import {
  bucketName,
  bucketUsage,
  DELIMITER,
  isListing,
  list,
  type Listing,
  listing,
  listingFault,
  listMore,
  oneBucket,
  type Row,
  ROWS_MAX,
} from '../state/bucket-data.ts'
import { linkTo } from '../state/route.ts'
import { doneCount, type Given, upload } from '../state/uploads.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { UploadLink } from './bucket-dialogs.tsx'
import { ObjectDialog } from './object.tsx'

const SAYS = TEXT.objects

interface Place {
  readonly bucket: string
  readonly prefix: string
}

export function BucketContents({ bucket, prefix }: Place) {
  const [opened, setOpened] = useState<string | null>(null)
  const done = doneCount.value
  useEffect(() => {
    bucketName.value = bucket
    oneBucket.forget()
    void oneBucket.load()
  }, [bucket])
  useEffect(() => {
    bucketUsage.forget()
    reload(bucket, prefix)
  }, [bucket, prefix, done])
  const shown = listing.value
  const isHere = shown !== null && shown.bucket === bucket && shown.prefix === prefix
  return (
    <>
      <Trail bucket={bucket} prefix={prefix} />
      <DropZone bucket={bucket} prefix={prefix} />
      <Card
        title={SAYS.contents}
        actions={<Button onClick={() => reload(bucket, prefix)}>{TEXT.refresh}</Button>}
      >
        <Counts />
        <Search bucket={bucket} prefix={prefix} />
        {listingFault.value === null ? null : <FaultNotice fault={listingFault.value} />}
        {isHere ? (
          <Contents listing={shown} onOpen={setOpened} />
        ) : listingFault.value === null ? (
          <Skeleton />
        ) : null}
      </Card>
      {opened === null ? null : (
        <ObjectDialog
          bucket={bucket}
          objectKey={opened}
          isVersioned={oneBucket.value.value?.versioning !== 'Unversioned'}
          onClose={() => {
            setOpened(null)
            reload(bucket, prefix)
          }}
        />
      )}
    </>
  )
}

function reload(bucket: string, prefix: string): void {
  void list(bucket, prefix)
  void bucketUsage.load()
}

/** Of the whole bucket, exact; nothing where the key may not see them. */
function Counts() {
  const usage = bucketUsage.value.value
  if (usage === null) return null
  const figures = [
    SAYS.counts.objects(usage.objects),
    SAYS.counts.versions(usage.versions),
    SAYS.counts.deleteMarkers(usage.deleteMarkers),
    bytes(usage.logicalBytes),
    ...(usage.multipartUploads === 0 ? [] : [SAYS.counts.uploads(usage.multipartUploads)]),
  ]
  return <p class="soft">{SAYS.inBucket(figures.join(' · '))}</p>
}

/** The bucket and each part of the prefix, as links. */
function Trail({ bucket, prefix }: Place) {
  const parts = prefix.split(DELIMITER)
  const last = parts.pop() ?? ''
  return (
    <nav class="trail" aria-label={SAYS.trail}>
      <a href={linkTo('objects')}>{SAYS.buckets}</a>
      <a href={linkTo('objects', bucket)}>{bucket}</a>
      {parts.map((part, n) => {
        const to = `${parts.slice(0, n + 1).join(DELIMITER)}${DELIMITER}`
        return (
          <a key={to} href={linkTo('objects', bucket, to)}>
            {part === '' ? SAYS.emptyName : part}
          </a>
        )
      })}
      {last === '' ? null : <span>{SAYS.begins(last)}</span>}
      <a class="aside" href={linkTo('bucket', bucket)}>
        {TEXT.rules.open}
      </a>
    </nav>
  )
}

function DropZone({ bucket, prefix }: Place) {
  const [isOver, setOver] = useState(false)
  const [isTooMany, setTooMany] = useState(false)
  const [isLinkOpen, setLinkOpen] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  // The types of Preact do not know it.
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), [])
  const take = (given: readonly Given[]): void => setTooMany(!upload(bucket, prefix, given))
  const chosen = (event: { readonly currentTarget: HTMLInputElement }): void => {
    take(filesIn(event.currentTarget.files ?? new DataTransfer().files))
    event.currentTarget.value = ''
  }
  return (
    <section
      class={`drop ${isOver ? 'over' : ''}`}
      aria-label={SAYS.upload}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (event.dataTransfer !== null) void filesOf(event.dataTransfer).then(take)
      }}
    >
      <p class="soft">{SAYS.drop}</p>
      <div class="actions">
        <Button kind="primary" onClick={() => files.current?.click()}>
          {SAYS.chooseFiles}
        </Button>
        <Button onClick={() => folder.current?.click()}>{SAYS.chooseFolder}</Button>
        <Button onClick={() => setLinkOpen(true)}>{SAYS.uploadLink}</Button>
        <LineButton
          of={SAYS.upload}
          line={() =>
            BY_KEY.line((api) => api.putObject({ bucket, key: `${prefix}FILE`, body: new Uint8Array(1) }))
          }
        />
      </div>
      <input ref={files} type="file" multiple hidden aria-label={SAYS.chooseFiles} onChange={chosen} />
      <input ref={folder} type="file" multiple hidden aria-label={SAYS.chooseFolder} onChange={chosen} />
      {isTooMany ? <Notice tone="warn" title={SAYS.tooMany} /> : null}
      {isLinkOpen ? <UploadLink bucket={bucket} prefix={prefix} onClose={() => setLinkOpen(false)} /> : null}
    </section>
  )
}

function Search({ bucket, prefix }: Place) {
  const folder = prefix.slice(0, prefix.lastIndexOf(DELIMITER) + 1)
  const [text, setText] = useState(prefix.slice(folder.length))
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault()
        location.hash = linkTo('objects', bucket, folder + text)
      }}
    >
      <Field label={SAYS.search} value={text} onChange={setText} />
      <Button type="submit">{TEXT.audit.search}</Button>
    </form>
  )
}

function Contents({
  listing: { bucket, prefix, rows, next },
  onOpen,
}: {
  readonly listing: Listing
  readonly onOpen: (key: string) => void
}) {
  const folder = prefix.lastIndexOf(DELIMITER) + 1
  const shown = (key: string): string => key.slice(folder) || SAYS.emptyName
  return (
    <>
      <p class="soft" role="status">
        {next === null ? SAYS.whole(count(rows.length)) : SAYS.some(count(rows.length))}
        {rows.length >= ROWS_MAX ? ` ${SAYS.narrower}` : ''}
      </p>
      <Rows<Row>
        label={SAYS.contents}
        empty={SAYS.nothing}
        keyOf={({ kind, key }) => `${kind} ${key}`}
        rows={rows}
        onEnd={() => void listMore()}
        columns={[
          {
            head: SAYS.name,
            cell: (row) =>
              row.kind === 'prefix' ? (
                <a class="cut" href={linkTo('objects', bucket, row.key)}>
                  {shown(row.key)}
                </a>
              ) : (
                <button class="as-link cut" type="button" onClick={() => onOpen(row.key)}>
                  {shown(row.key)}
                </button>
              ),
          },
          {
            head: SAYS.size,
            cell: (row) =>
              row.kind === 'object' ? (
                <>
                  {row.object.customerKey === true ? <Badge tone="info">{SAYS.sseC}</Badge> : null}{' '}
                  {bytes(row.object.size)}
                </>
              ) : (
                ''
              ),
            isFigure: true,
          },
          {
            head: SAYS.changed,
            cell: (row) => (row.kind === 'object' ? <Time iso={row.object.lastModified} /> : ''),
            isMinor: true,
          },
        ]}
      />
      {isListing.value ? <p class="soft">{TEXT.loading}</p> : null}
    </>
  )
}
