/**
 * One bucket of a tenant, for operators: its policy in words and as JSON, and its changes.
 */
import { useEffect, useState } from 'preact/hooks'
import type { BucketPolicy } from '../../../client/src/admin.ts'
import { InputError } from '../forms/input-error.ts'
import { Button, Card, Copyable, Loaded, Notice } from '../parts/basics.tsx'
import { TextArea } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { linkTo } from '../state/route.ts'
import { tenantId } from '../state/tenant-data.ts'
import { policy, policyBucket } from '../state/tenant-rules.ts'
import { statementInWords } from '../words/policy-words.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.policies

interface Named {
  readonly id: string
  readonly bucket: string
}

export function TenantBucketScreen({ id, bucket }: Named) {
  const [open, setOpen] = useState<'set' | 'remove' | null>(null)
  useEffect(() => {
    tenantId.value = id
    policyBucket.value = bucket
    policy.forget()
    void policy.load()
  }, [id, bucket])
  const close = (): void => {
    setOpen(null)
    void policy.load()
  }
  return (
    <>
      <nav class="trail" aria-label={SAYS.back}>
        <a href={linkTo('tenants')}>{TEXT.tenants.back}</a>
        <a href={linkTo('tenants', id)}>{id}</a>
        <span>{bucket}</span>
      </nav>
      <Loaded of={policy}>
        {({ set }) => (
          <Card
            title={`${SAYS.title}: ${bucket}`}
            actions={
              <>
                <Button needs="setTenantBucketPolicy" onClick={() => setOpen('set')}>
                  {SAYS.set}
                </Button>
                {set === null ? null : (
                  <Button needs="deleteTenantBucketPolicy" onClick={() => setOpen('remove')}>
                    {SAYS.remove}
                  </Button>
                )}
              </>
            }
          >
            <Shown set={set} />
            {open === 'set' ? <SetPolicy id={id} bucket={bucket} present={set} onClose={close} /> : null}
            {open === 'remove' ? <RemovePolicy id={id} bucket={bucket} onClose={close} /> : null}
          </Card>
        )}
      </Loaded>
    </>
  )
}

function Shown({ set }: { readonly set: BucketPolicy | null }) {
  return (
    <div class="stack">
      <p class="soft">{SAYS.about}</p>
      {set === null ? <p>{SAYS.none}</p> : null}
      <ol class="rules" aria-label={SAYS.title}>
        {set?.Statement.map((statement, at) => (
          <li key={statement.Sid ?? at}>
            <b>{statement.Sid ?? SAYS.statement(at + 1)}</b>
            <p>{statementInWords(statement)}</p>
          </li>
        ))}
      </ol>
      {set === null ? null : <Copyable text={JSON.stringify(set, null, 2)} label={SAYS.json} />}
    </div>
  )
}

const example = (bucket: string): BucketPolicy => ({
  Version: '2012-10-17',
  Statement: [
    {
      Sid: 'no-deletions',
      Effect: 'Deny',
      Principal: '*',
      Action: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
      Resource: `arn:aws:s3:::${bucket}/*`,
    },
  ],
})

/** Throws InputError. What it contains is judged by the API. */
function policyOf(text: string): BucketPolicy {
  try {
    return JSON.parse(text) as BucketPolicy
  } catch (error) {
    throw new InputError(SAYS.noJson(error instanceof Error ? error.message : ''))
  }
}

function SetPolicy({
  id,
  bucket,
  present,
  onClose,
}: Named & { readonly present: BucketPolicy | null; readonly onClose: () => void }) {
  const [text, setText] = useState(JSON.stringify(present ?? example(bucket), null, 2))
  return (
    <PlannedDialog
      title={SAYS.set}
      about={SAYS.setAbout}
      fields={<TextArea label={SAYS.field} help={SAYS.fieldHelp} value={text} onChange={setText} />}
      plan={async (api) => api.dryRun.setTenantBucketPolicy({ id, bucket, ...policyOf(text) })}
      shown={({ plan: { denials, withoutEffect, replaces } }) => (
        <p>
          {SAYS.plan(denials, withoutEffect)} {replaces ? SAYS.replaces : ''}
        </p>
      )}
      confirm={null}
      run={async (api) => api.setTenantBucketPolicy({ id, bucket, ...policyOf(text) })}
      done={() => <Notice tone="good" title={SAYS.isSet} />}
      onClose={onClose}
    />
  )
}

function RemovePolicy({ id, bucket, onClose }: Named & { readonly onClose: () => void }) {
  return (
    <PlannedDialog
      title={SAYS.remove}
      about={SAYS.removeAbout}
      fields={null}
      plan={(api) => api.dryRun.deleteTenantBucketPolicy({ id, bucket })}
      shown={() => <p>{SAYS.removePlan}</p>}
      confirm={bucket}
      run={(api) => api.deleteTenantBucketPolicy({ id, bucket })}
      done={() => <Notice tone="good" title={SAYS.removed} />}
      onClose={onClose}
    />
  )
}
