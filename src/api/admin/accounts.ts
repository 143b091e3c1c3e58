/**
 * The routes of service accounts: parse the call, run one operation, dress the outcome. No rules here. [decisions 11]
 */
import Type, { type Static } from 'typebox'
import { createTenantAccount } from '../../operations/accounts/create-tenant-account.ts'
import { listTenantAccounts } from '../../operations/accounts/list-tenant-accounts.ts'
import { type AccountRecord, ACCOUNTS_PER_TENANT_MAX } from '../../state-machine/tenants/records.ts'
import { tenantAccessOf } from '../../state-machine/tenants/tenant-access.ts'
import { ACME } from '../examples/names.ts'
import { adminRoute } from '../route.ts'
import { PAGE_END_SCHEMA, pageEnd, Time, timeText } from '../wire.ts'
import { creationRoute } from './mutation.ts'
import { PageQuery } from './queries.ts'

export const AccountView = Type.Object(
  {
    id: Type.String(),
    tenantId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    status: Type.Enum(['active']),
    createdAt: Time,
    keyCount: Type.Integer({ minimum: 0, description: 'Its access keys that are not revoked' }),
  },
  { additionalProperties: false },
)

const NewAccount = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, description: 'No other account of the tenant has it' }),
    description: Type.Optional(Type.String({ maxLength: 1024 })),
  },
  { additionalProperties: false },
)

const AccountPage = Type.Object({ accounts: Type.Array(AccountView), ...PAGE_END_SCHEMA })

export const accountRoutes = [
  adminRoute(
    listTenantAccounts,
    {
      method: 'GET',
      path: '/tenants/{id}/accounts',
      summary: 'List the service accounts of a tenant, the oldest first',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of accounts',
        content: { type: 'application/json', schema: AccountPage },
      },
      example: { params: ACME, query: { limit: '100' } },
    },
    async (services, principal, { params, query: { limit, continuationToken } }) => {
      const page = await listTenantAccounts(services, principal, { ...params, limit, continuationToken })
      return {
        kind: 'json',
        body: { accounts: page.accounts.map(accountView), ...pageEnd(page.nextContinuationToken) },
      }
    },
  ),

  creationRoute(
    createTenantAccount,
    {
      method: 'POST',
      path: '/tenants/{id}/accounts',
      summary: 'Create a service account, to which access keys can belong',
      description: 'An account has no rights of its own: what a key may do is said by its scopes.',
      body: { schema: NewAccount },
      answers: 'The account',
      view: AccountView,
      plan: Type.Object({
        name: Type.String(),
        accounts: Type.Integer({ minimum: 0, description: 'That the tenant has now' }),
        accountsMax: Type.Integer(),
      }),
      example: {
        params: ACME,
        body: { name: 'ci', description: 'Uploads what the builds make' },
      },
    },
    {
      run: (services, principal, { params, body: { name, description } }) =>
        createTenantAccount(services, principal, { ...params, name, description }),
      answer: (account) => ({
        path: `/tenants/${account.tenantId}/accounts/${account.accountId}`,
        body: accountView(account),
      }),
      plan: async ({ state }, { params: { id }, body: { name } }) => {
        const { accountCount } = tenantAccessOf(state, id)
        const plan = { name, accounts: accountCount, accountsMax: ACCOUNTS_PER_TENANT_MAX }
        return { plan, warnings: [], tenantId: id }
      },
    },
  ),
]

function accountView(account: AccountRecord): Static<typeof AccountView> {
  const { accountId: id, tenantId, name, description, createdAt, keyCount } = account
  return { id, tenantId, name, description, status: 'active', createdAt: timeText(createdAt), keyCount }
}
