/**
 * Whether an access key may do something, and what decides.
 *
 * Rule: the node decides, as it does for a request; nothing is sent until it is asked.
 */
import { useState } from 'preact/hooks'
import type { AccessKey, AccessTest } from '../../../client/src/admin.ts'
import type { DataOperations } from '../../../client/src/index.ts'
import { BY_TOKEN } from '../parts/access.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button, FactList, FaultNotice, Notice } from '../parts/basics.tsx'
import { CurlLine } from '../parts/curl-line.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Select } from '../parts/form.tsx'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.accessTest

const OPERATIONS = [
  'getObject',
  'putObject',
  'deleteObject',
  'listObjects',
  'listObjectVersions',
  'setObjectTags',
  'setObjectRetention',
  'setObjectLegalHold',
  'createBucket',
  'getBucket',
  'deleteBucket',
  'setBucketVersioning',
  'setBucketLifecycle',
  'setBucketReplication',
  'setBucketNotifications',
  'setBucketCORS',
] as const satisfies readonly (keyof DataOperations)[]

interface Props {
  readonly id: string
  readonly keys: readonly AccessKey[]
  readonly onClose: () => void
}

interface Question {
  readonly accessKeyId: string
  readonly operation: string
  /** Empty: not named. */
  readonly bucket: string
  readonly key: string
  readonly sourceIp: string
}

/** An answer is shown with its own question alone. */
interface Answered {
  readonly question: Question
  readonly answer: AccessTest
}

export function TestAccess({ id, keys, onClose }: Props) {
  const [question, setQuestion] = useState<Question>({
    accessKeyId: keys[0]?.accessKeyId ?? '',
    operation: OPERATIONS[0],
    bucket: '',
    key: '',
    sourceIp: '',
  })
  const [answered, setAnswered] = useState<Answered | null>(null)
  const { fault, isBusy, attempt } = useAttempt(BY_TOKEN)
  const asked = { id, ...named(question) }
  const ask = async (): Promise<void> => {
    setAnswered(null)
    await attempt(async (api) => setAnswered({ question, answer: await api.testAccess(asked) }))
  }
  return (
    <Dialog title={SAYS.title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <p class="soft">{SAYS.about}</p>
        <Fields
          keys={keys}
          question={question}
          onChange={(changed) => setQuestion({ ...question, ...changed })}
        />
        {answered?.question === question ? <Answer answer={answered.answer} /> : null}
        {fault === null ? null : <FaultNotice fault={fault} title={TEXT.fault.refused} />}
        <div class="actions">
          <Button type="submit" kind="primary" isDisabled={isBusy}>
            {SAYS.ask}
          </Button>
          <Button onClick={onClose}>{TEXT.close}</Button>
        </div>
        <CurlLine line={() => BY_TOKEN.line((api) => api.testAccess(asked))} />
      </form>
    </Dialog>
  )
}

function Fields({
  keys,
  question: { accessKeyId, operation, bucket, key, sourceIp },
  onChange,
}: {
  readonly keys: readonly AccessKey[]
  readonly question: Question
  readonly onChange: (changed: Partial<Question>) => void
}) {
  return (
    <>
      <Select
        label={SAYS.key}
        value={accessKeyId}
        onChange={(value) => onChange({ accessKeyId: value })}
        choices={keys.map((one) => ({
          value: one.accessKeyId,
          text: one.name === null ? one.accessKeyId : `${one.name} ${one.accessKeyId}`,
        }))}
      />
      <Select
        label={SAYS.operation}
        value={operation}
        onChange={(value) => onChange({ operation: value })}
        choices={OPERATIONS.map((value) => ({ value, text: value }))}
      />
      <div class="two">
        <Field
          label={TEXT.tenants.bucket}
          value={bucket}
          onChange={(value) => onChange({ bucket: value })}
          isRequired
        />
        <Field
          label={SAYS.objectKey}
          help={SAYS.objectKeyHelp}
          value={key}
          onChange={(value) => onChange({ key: value })}
        />
      </div>
      <Field
        label={SAYS.address}
        help={SAYS.addressHelp}
        value={sourceIp}
        onChange={(value) => onChange({ sourceIp: value })}
      />
    </>
  )
}

/** What is left empty is not named, and the object key not where the operation takes none. */
function named({ accessKeyId, operation, bucket, key, sourceIp }: Question) {
  return {
    accessKeyId,
    operation,
    bucket,
    ...(key === '' || operation.includes('Bucket') ? {} : { key }),
    ...(sourceIp === '' ? {} : { sourceIp }),
  }
}

function Answer({
  answer: { allowed, reason, decidedBy, scopes, statement },
}: {
  readonly answer: AccessTest
}) {
  return (
    <Notice tone={allowed ? 'good' : 'bad'} title={allowed ? SAYS.yes : SAYS.no}>
      <p>{reason}</p>
      <FactList
        rows={[
          [SAYS.decidedBy, SAYS.deciders[decidedBy]],
          ...scopes.map(
            ({ verb, bucket, prefix }) =>
              [SAYS.scope, <span class="code">{`${verb} ${bucket}/${prefix}`}</span>] as const,
          ),
          ...(statement === null
            ? []
            : [
                [
                  SAYS.statement(statement.index, statement.sid),
                  <span class="code">
                    {statement.document === null ? SAYS.hidden : JSON.stringify(statement.document)}
                  </span>,
                ] as const,
              ]),
        ]}
      />
    </Notice>
  )
}
