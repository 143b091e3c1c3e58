/**
 * Who is logged in to the admin API, with which role and until when; a person ends all of their sessions here.
 */
import { useState } from 'preact/hooks'
import { Button, FactList, Icon, Time } from '../parts/basics.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { caller, hasUser, logOut } from '../state/session.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.account

export function Account() {
  const [isOpen, setOpen] = useState(false)
  const session = caller.value
  if (session === null) return null
  const { name, role, tenantId, tokenId, expiresAt, user } = session
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Icon name="user" />
        <span>{TEXT.rights.caller(name, role)}</span>
      </Button>
      {isOpen ? (
        <Dialog title={SAYS.title} onClose={() => setOpen(false)}>
          <FactList
            rows={[
              [SAYS.name, name],
              [SAYS.role, role],
              [SAYS.tenant, tenantId ?? SAYS.allTenants],
              [SAYS.id, <span class="code">{tokenId}</span>],
              [SAYS.endsAt, <Time iso={user?.endsAt ?? expiresAt} />],
            ]}
          />
          {hasUser(session) ? (
            <div class="actions">
              <Button onClick={() => logOut(null, true)}>{TEXT.logOutEverywhere}</Button>
            </div>
          ) : null}
        </Dialog>
      ) : null}
    </>
  )
}
