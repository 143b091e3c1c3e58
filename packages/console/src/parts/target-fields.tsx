/**
 * The fields of the target of a replication.
 */
import type { TargetForm } from '../forms/replication-form.ts'
import { TEXT } from '../words/strings.ts'
import { Field, YesOrNo } from './form.tsx'

const SAYS = TEXT.replication

export function TargetFields({
  given,
  onChange,
  bucket,
}: {
  readonly given: TargetForm
  readonly onChange: (more: Partial<TargetForm>) => void
  /** How the bucket is asked for. */
  readonly bucket: { readonly label: string; readonly help?: string; readonly isRequired: boolean }
}) {
  return (
    <>
      <Field
        label={SAYS.endpoint}
        help={SAYS.endpointHelp}
        value={given.endpoint}
        onChange={(endpoint) => onChange({ endpoint })}
        isRequired
        isFirst
      />
      <div class="two">
        <Field {...bucket} value={given.bucket} onChange={(name) => onChange({ bucket: name })} />
        <Field
          label={SAYS.region}
          help={SAYS.regionHelp}
          value={given.region}
          onChange={(region) => onChange({ region })}
        />
      </div>
      <Field
        label={SAYS.key}
        value={given.accessKeyId}
        onChange={(accessKeyId) => onChange({ accessKeyId })}
        isRequired
      />
      <Field
        label={SAYS.secret}
        help={SAYS.secretHelp}
        value={given.secretKey}
        onChange={(secretKey) => onChange({ secretKey })}
        isSecret
      />
      <YesOrNo
        label={SAYS.virtualHost}
        value={given.virtualHost}
        onChange={(virtualHost) => onChange({ virtualHost })}
        texts={{ yes: TEXT.yes, no: TEXT.no }}
      />
    </>
  )
}
