/**
 * The contract of who a caller of the admin plane is, and of what it may do.
 */
export const sessionRows = {
  'admin.session.get':
    'GET /session: token, name, role, tenant and end of the caller, for every role [admin: Authentication 4]',
  'admin.session.operations':
    'operations names what role and tenant of the caller allow; all others are 403 [admin: Authentication 4]',
} as const
