/**
 * Asks for an admin token or an access key.
 */
import { useState } from 'preact/hooks'
import { UnauthorizedError } from '../../../client/src/admin.ts'
import { Button, Notice } from '../parts/basics.tsx'
import { Brand } from '../parts/brand.tsx'
import { Field } from '../parts/form.tsx'
import { goToProvider, options } from '../state/provider-session.ts'
import { endedBy, logIn } from '../state/session.ts'
import { faultOf } from '../state/resource.ts'
import { TEXT } from '../words/strings.ts'
import { KeyForm } from './key-form.tsx'

export function LogIn() {
  const [isByKey, setByKey] = useState(false)
  const why = endedBy.value
  return (
    <main class="entry">
      <div class="card">
        <p class="brand">
          <Brand />
        </p>
        <h1>{TEXT.login.title}</h1>
        <p class="soft">{isByKey ? TEXT.keyLogin.intro : TEXT.login.intro}</p>
        {why === null ? null : <Notice tone="info" title={WHY[why]} />}
        <ProviderButton />
        {isByKey ? <KeyForm /> : <TokenForm />}
        <Button onClick={() => setByKey(!isByKey)}>{isByKey ? TEXT.login.byToken : TEXT.login.byKey}</Button>
      </div>
    </main>
  )
}

const WHY = { idle: TEXT.login.ended, refused: TEXT.login.expired, session: TEXT.login.sessionEnded } as const

/** The way of most people, where there is a provider. */
function ProviderButton() {
  const provider = options.value?.provider ?? null
  if (provider === null) return null
  return (
    <>
      <Button kind="primary" onClick={() => void goToProvider()}>
        {TEXT.login.byProvider(provider.name)}
      </Button>
      <p class="soft">{TEXT.login.orElse}</p>
    </>
  )
}

function TokenForm() {
  const [token, setToken] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    setBusy(true)
    setFault(null)
    try {
      await logIn(token.trim())
    } catch (error) {
      if (error instanceof UnauthorizedError) setFault(TEXT.login.refused)
      else if (error instanceof TypeError) setFault(TEXT.login.empty)
      else setFault(faultOf(error).kind === 'unreachable' ? TEXT.fault.unreachable : faultOf(error).message)
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
      <Field
        label={TEXT.login.token}
        isSecret
        value={token}
        onChange={setToken}
        help={TEXT.login.help}
        isRequired
        isFirst
        placeholder="svcadm_…"
      />
      {fault === null ? null : <Notice tone="bad" title={fault} />}
      <Button type="submit" kind="primary" isDisabled={isBusy}>
        {TEXT.login.submit}
      </Button>
    </form>
  )
}
