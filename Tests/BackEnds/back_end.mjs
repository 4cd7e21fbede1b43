// A back end that takes Bramley's session JWTs, with jose and no framework.
//
//   npm install jose
//   ISSUER=https://auth.example.com AUDIENCE=bramley PORT=3000 node back_end.mjs

import { createServer } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { ISSUER: issuer, AUDIENCE: audience, PORT: port } = process.env
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))

// The account that is signed in.
async function account(authorization = '') {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1] ?? ''
  // The algorithm is ours to say (BRAMLEY_SESSION_ALG), never the token's.
  const { payload } = await jwtVerify(token, keys, { algorithms: ['ES256'], audience, issuer })
  return payload.sub
}

// What jose says of a token, not of the way to the keys: whoever gets a 401 signs people out.
const isRefusal = ({ code = '' }) => /^ERR_(JWT|JWS|JOSE_ALG|JOSE_NOT|JWKS_NO_MATCHING)/.test(code)

const server = createServer(async (request, response) => {
  response.setHeader('Content-Type', 'application/json')
  try {
    response.end(JSON.stringify({ account: await account(request.headers.authorization) }))
  } catch (error) {
    response.statusCode = isRefusal(error) ? 401 : 503
    if (isRefusal(error)) response.setHeader('WWW-Authenticate', 'Bearer')
    response.end(JSON.stringify({ error: isRefusal(error) ? 'sign in' : 'no keys' }))
  }
})
server.listen(Number(port), '127.0.0.1', () => console.log(`listening on 127.0.0.1:${server.address().port}`))
