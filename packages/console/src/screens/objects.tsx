/**
 * Objects: the buckets of the tenant of an access key, and the way into each.
 */
import { useEffect, useState } from 'preact/hooks'
import { Badge, Button, Card, FactList, Loaded, Notice, Time } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { buckets } from '../state/bucket-data.ts'
import { linkTo, place } from '../state/route.ts'
import { keyEndedBy, keySession } from '../state/session.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { BucketContents } from './bucket.tsx'
import { CreateBucket } from './bucket-dialogs.tsx'
import { KeyForm } from './key-form.tsx'
import { UploadList } from './upload-list.tsx'

const SAYS = TEXT.objects

export function Objects() {
  const session = keySession.value
  if (session === null)
    return (
      <Card title={SAYS.logIn}>
        <p class="soft">{TEXT.keyLogin.intro}</p>
        {keyEndedBy.value === null ? null : <Notice tone="info" title={TEXT.keyLogin.ended} />}
        <div class="narrow">
          <KeyForm />
        </div>
      </Card>
    )
  const { item, inner } = place.value
  return (
    <>
      {item === '' ? <BucketList /> : <BucketContents key={item} bucket={item} prefix={inner} />}
      <UploadList />
      <Card>
        <FactList
          rows={[
            [SAYS.tenant, session.tenantId],
            [TEXT.tenants.key, <span class="code">{session.accessKeyId}</span>],
          ]}
        />
      </Card>
    </>
  )
}

function BucketList() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => void buckets.load(), [])
  return (
    <Card title={SAYS.buckets} actions={<Button onClick={() => setOpen(true)}>{SAYS.createBucket}</Button>}>
      <Loaded of={buckets}>
        {({ rows, isWhole }) => (
          <>
            <p class="soft">{isWhole ? SAYS.bucketCount(rows.length) : SAYS.notAllBuckets(rows.length)}</p>
            <Table
              label={SAYS.buckets}
              empty={SAYS.noBuckets}
              keyOf={({ name }) => name}
              rows={rows}
              columns={[
                { head: SAYS.bucket, cell: ({ name }) => <a href={linkTo('objects', name)}>{name}</a> },
                {
                  head: SAYS.objects,
                  cell: ({ usage }) => (usage === undefined ? SAYS.notShown : count(usage.objects)),
                  isFigure: true,
                },
                {
                  head: SAYS.bytes,
                  cell: ({ usage }) => (usage === undefined ? SAYS.notShown : bytes(usage.logicalBytes)),
                  isFigure: true,
                },
                {
                  head: SAYS.versioning,
                  cell: ({ versioning }) => SAYS.versionings[versioning],
                  isMinor: true,
                },
                {
                  head: SAYS.lock,
                  cell: ({ objectLockEnabled }) =>
                    objectLockEnabled ? <Badge tone="info">{SAYS.locked}</Badge> : TEXT.none,
                  isMinor: true,
                },
                {
                  head: TEXT.tenants.created,
                  cell: ({ createdAt }) => <Time iso={createdAt} />,
                  isMinor: true,
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {isOpen ? (
        <CreateBucket
          onClose={() => {
            setOpen(false)
            void buckets.load()
          }}
        />
      ) : null}
    </Card>
  )
}
