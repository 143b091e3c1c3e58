/**
 * Asks for an access key.
 */
import { useState } from 'preact/hooks'
import { ApiError, WrongListenerError } from '../../../client/src/index.ts'
import { Button, Notice } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { faultOf } from '../state/resource.ts'
import { logInWithKey } from '../state/session.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.keyLogin

export function KeyForm() {
  const [keyId, setKeyId] = useState('')
  const [secret, setSecret] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    setBusy(true)
    setFault(null)
    try {
      await logInWithKey(keyId.trim(), secret.trim())
    } catch (error) {
      setFault(whyNot(error))
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Field label={SAYS.id} value={keyId} onChange={setKeyId} isRequired isFirst placeholder="AK…" />
      <Field label={SAYS.secret} isSecret value={secret} onChange={setSecret} help={SAYS.help} isRequired />
      {fault === null ? null : <Notice tone="bad" title={fault} />}
      <Button type="submit" kind="primary" isDisabled={isBusy}>
        {TEXT.login.submit}
      </Button>
    </form>
  )
}

function whyNot(error: unknown): string {
  if (error instanceof WrongListenerError) return SAYS.off
  if (error instanceof ApiError) return error.status === 401 ? SAYS.refused : error.message
  if (error instanceof TypeError) return SAYS.empty
  return faultOf(error).kind === 'unreachable' ? TEXT.fault.unreachable : faultOf(error).message
}
