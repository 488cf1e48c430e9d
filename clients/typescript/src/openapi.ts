// Generated from openapi.json by `npm run openapi`.

export interface paths {
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the process responds
         * @description Does not query the database: restarting this process would not repair it.
         */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether requests should be sent here
         * @description Checks within 0.9 seconds that the database has every migration and commits writes, and that the service is not stopping.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics in the text format of Prometheus
         * @description Returns the metrics of the responding replica. In production, it needs a valid key, with any scope. If METRICS_PORT is set, this is a 404: that port has them, without a key.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/problems/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a problem code means
         * @description The `type` of every problem is the address of this page. Needs no key.
         */
        get: operations["getProblem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users, the newest first
         * @description Only users registered by this service. Erased users are not listed.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Register a user with the Solar Curtailment Service
         * @description May be repeated: a tenantReference is registered once. Returns 202 while the registration is undecided: it is sent later, or its response was lost and a person decides (see /registrations).
         */
        post: operations["registerUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user
         * @description Returns our copy; the remote service has no call that reads a user. An erased user is `not_found`.
         */
        get: operations["readUser"];
        put?: never;
        post?: never;
        /**
         * Erase the personal data of a user
         * @description Erases permanently, in this service: reference, names, email, EANs, metadata, registrations, stored responses and inverter ids. Its sessions are no longer watched. Counts and states stay, without personal data. The remote service is not informed, since its interface has no such call. After the response, nothing that begins to be sent carries the reference; a webhook or a page that is already under way may. The request may be repeated.
         */
        delete: operations["eraseUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/registrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List registrations, the newest first
         * @description Includes those that are done: `registered`, `rejected` and `discarded`.
         */
        get: operations["listRegistrations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/registrations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a registration
         * @description Poll it after a 202, or wait for the event `user.registered`.
         */
        get: operations["readRegistration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/onboarding/pv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions, the longest unchanged first
         * @description Ordered by the last change of our record. A change is visible once it is committed, usually within a second of its time: to follow changes, begin at `updatedSince` a minute before the last run began. The feed of events misses none.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{userId}/pv/onboarding-sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session by the other path shape of the remote service
         * @description Returns the same as the path without the user; `not_found` if the session is of another user.
         */
        get: operations["readSessionOfUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/onboarding/pv/{sessionId}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a session from the remote service now
         * @description Concurrent requests for one session share reads of the remote service. A shared read is always sent after the request has arrived, so the response is never older than the request.
         */
        post: operations["refreshSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/onboarding/starts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List starts, the newest first
         * @description Includes those that failed and so led to no session. A request that returns a session that is open or online makes no start.
         */
        get: operations["listStarts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inverters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List inverters, the newest first
         * @description Returns one item per inverter and user. If several sessions of one user (with `gridLocationId`: of one grid location) have the same inverter, a session that still lists it is preferred, then the latest `firstSeenAt`. An inverter of several users is returned once for each of them.
         */
        get: operations["listInverters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inverters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an inverter
         * @description If several sessions of any users have the inverter, a session that still lists it is preferred, then the latest `firstSeenAt`. To read the inverter of one user, list with `userId`.
         */
        get: operations["readInverter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/onboarding/pv/{sessionId}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List everything that happened to a session, the oldest first
         * @description The starts that led to it, the responses of the remote service, the transitions that followed by which rule, and the events about it.
         */
        get: operations["listTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed of events page by page
         * @description No event is skipped or reordered within a subject. `next` is always present, also after the last event, so a reader can continue with it for ever.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the events as server-sent events
         * @description Each event has its `sequence` as `id`, its type as `event` and the CloudEvent as `data`. A client that reconnects with `Last-Event-ID` misses no event. Default: start after the newest event; the first block contains its `id`.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the endpoints, newest first
         * @description Without the values of secrets and headers.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Create an endpoint to which events are sent
         * @description Sends every event from the next one on, at least once, in order within a `subject`, signed according to Standard Webhooks.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an endpoint and its recent health
         * @description Without the values of its secrets and headers.
         */
        get: operations["readWebhookEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint and the log of its deliveries
         * @description Pending deliveries are dropped. To pause an endpoint, disable it.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint, or disable or enable it
         * @description Absent fields are unchanged; `headers` replaces all headers. A new URL, new headers or enabling makes all waiting retries due at once.
         */
        patch: operations["changeWebhookEndpoint"];
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of an endpoint
         * @description Both secrets sign during the overlap, so that the receiver can switch without a gap. Previously rotated secrets sign until their own overlap ends.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event now and return the response
         * @description Makes one attempt with an event of type `pv.webhook_endpoint.test.v1`, signed like any other, even if the endpoint is disabled. It is not listed as a delivery. If the response is a 2xx and the endpoint is enabled, its waiting retries become due, and its `failures` become 0.
         */
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries to endpoints, newest first
         * @description Of deliveries created at the same instant, the later event comes first.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the delivery of one event to one endpoint
         * @description Shows each attempt and when the next one is due.
         */
        get: operations["readWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event to an endpoint again
         * @description Uses the same `webhook-id`, whatever its status. If the endpoint is disabled, the event is sent when the endpoint is enabled.
         */
        post: operations["redeliverWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send selected events or a range of events to an endpoint again
         * @description Uses the same `webhook-id` as before and keeps the order within a subject. A range also includes events that the endpoint never received, such as those before its creation.
         */
        post: operations["redeliverToWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List invitations, the newest first
         * @description Without those of erased users.
         */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite the owner of a grid location
         * @description Returns 200 with the live invitation of the location, unchanged, if there is one. The link stays valid until the installation is online, or the invitation is revoked or past its date.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an invitation
         * @description That of an erased user is `not_found`.
         */
        get: operations["readInvitation"];
        put?: never;
        post?: never;
        /**
         * Revoke an invitation
         * @description Its link then says that it is no longer valid. An invitation that is over stays as it is, unless its owner has withdrawn the consent. The session that the owner may have started stays.
         */
        delete: operations["revokeInvitation"];
        options?: never;
        head?: never;
        /**
         * Change an invitation, whose link stays
         * @description What is absent stays. An invitation that is revoked, online or of an erased user cannot be changed, and one that has expired only together with `expiresAt`.
         */
        patch: operations["changeInvitation"];
        trace?: never;
    };
    "/api/v1/invitations/{id}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the link of one invitation
         * @description For a person who gives it to the owner. Each time is in the audit log. A key without `links:read` reads at most 100 links an hour, so that nobody collects them.
         */
        post: operations["readInvitationLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/qr.svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the link of one invitation as a QR code
         * @description For letters. An image in SVG. Audited and limited as `POST /invitations/{id}/link`.
         */
        get: operations["readInvitationQrCode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a code that leads to the link once, to be read out
         * @description Eight letters, for an owner on the telephone, who enters them within 15 minutes at `enterAt`. A new code ends the one before. Audited and limited as `POST /invitations/{id}/link`. Not for an invitation that is over.
         */
        post: operations["createInvitationCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/reminders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the owner reminded now
         * @description Appends `invitation.reminder_due` at once, so that your own program sends the message. It counts as one of the schedule, whose next reminder is due 24 hours later at the earliest. At most once an hour for each invitation, also after one of the schedule. Not for an invitation that is over, or whose owner has nothing to do.
         */
        post: operations["remindOwner"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record that a message with the link was sent, or has come back
         * @description Called by the program that sends your mail, in any order and as often as it likes, also about an invitation that is over. While the last message has come back and the owner has to act, the invitation is stalled as `unreachable`; a later `sent` ends that.
         */
        post: operations["recordInvitationMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/withdrawal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record that the owner has withdrawn the consent
         * @description As the owner has told you by telephone or letter; on the page, the owner does it alone. It counts for every invitation of the location that has a consent. A repetition does nothing. No reminder is sent any more, and only another consent starts something. No session ends by that: while the installation may be accessed, the invitation is stalled as `consent_withdrawn`, until you revoke it after the provider has disconnected the installation.
         */
        post: operations["withdrawConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/funnel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count invitations by the steps that they reached
         * @description Each invitation counts once, however many sessions its owner started. By brand, it counts once for each of its brands, with the steps of the whole invitation: one with two brands is online under both once the location is online with both.
         */
        get: operations["readFunnel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/brands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the brands of inverters with their names
         * @description Those of INVERTER_BRANDS_FILE, in its order, then at most 100 others that sessions have. The name of such a brand is its id.
         */
        get: operations["listBrands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/grid-locations/{id}/case": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the case of a grid location
         * @description What is expected, online and missing, what there was so far, and what it waits for. Without any link. That of an erased user is `not_found`.
         */
        get: operations["readCase"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/customers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List customers, or read the cases of one by reference or EAN
         * @description Without `tenantReference` and `ean`: a page of customers, the newest first, with who is waited for at each. A registration without a user is a customer as well. With one of them, for a colleague on the telephone: the customers with their cases, ordered by reference. Several customers may have one EAN: returns at most 10. `not_found` if there is none, or if the user is erased.
         */
        get: operations["readCustomers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search everything by what a person has typed or pasted
         * @description At most 20 hits of each kind that the key may read: references that begin with the text, in any case (that of a discarded registration whole); an EAN or an id, also of an inverter, with anything around it; an invitation's link; words of metadata; parts of the names of campaigns. The text is in the body, so that it is in no log.
         */
        post: operations["search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List campaigns, the newest first
         * @description With dry runs. Without files that are still being uploaded.
         */
        get: operations["listCampaigns"];
        put?: never;
        /**
         * Upload a file of customers to register
         * @description CSV or NDJSON, one EAN per row; rows of one tenantReference are one customer. The encoding, the separator and the quote are detected. With `dryRun=true`, every row is checked and nobody is registered. A row that cannot be registered does not stop the others. A file that cannot be read to its end is refused as a whole. With `adopt=true`, the rows are users and sessions that exist at the remote service: they are mirrored, and nothing is created there. `invite=true` also needs the scope `onboarding:write`, and `adopt=true` the scope `registrations:decide`.
         */
        post: operations["createCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a campaign and its progress
         * @description `summary` counts the rows by the result of the check, `counts` by their current status. In a dry run, `accepted` rows are those that would be registered.
         */
        get: operations["readCampaign"];
        put?: never;
        post?: never;
        /**
         * Delete a campaign that has ended, or a dry run
         * @description With its rows and their personal data, at once. Users, registrations and invitations stay. Cancel a campaign first that runs or is paused; once what had been sent has its result, it has ended.
         */
        delete: operations["deleteCampaign"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{id}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the rows of a campaign, in the order of the file
         * @description With what became of each row, and its problems.
         */
        get: operations["listCampaignRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{id}/result.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the file with what became of each row
         * @description The columns as sent, then `status`, `problems`, `registrationId`, `userId` and, for a key with `links:read`, `invitationUrl`. UTF-8 with a byte order mark, as Excel needs it; cells that Excel would take for formulas are escaped, and EANs are written so that it shows all digits. The result of a CSV can be corrected and uploaded again.
         */
        get: operations["readCampaignResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a campaign
         * @description No further row is sent. What has been sent still gets its result. May be repeated.
         */
        post: operations["pauseCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused campaign
         * @description It continues with the next row. May be repeated.
         */
        post: operations["resumeCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a campaign
         * @description Rows that have not been sent become `cancelled`, for ever. What has been sent still gets its result. May be repeated.
         */
        post: operations["cancelCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys, newest first, without their values
         * @description Includes the revoked keys, so that the history of a key can be found.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key for an app
         * @description The key is stored only as a hash, so the response is the only one that contains it.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Cannot be undone. Revoking a key again changes nothing.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who did what, newest first
         * @description The same as `admin.audit_log`, without request ids. What was done about a customer has the id of the user, a registration, a session or an invitation as its target.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stalled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List everything that does not continue by itself, the oldest first
         * @description Only of the kinds that the key may read: with `users:read` registration; with `onboarding:read` start, session, invitation, inverter; with `webhooks:manage` endpoint. A stall is found at most 2 seconds late.
         */
        get: operations["listStalled"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stalled/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count what is stalled by kind and cause, with the oldest of each
         * @description The groups with the most new items come first, of these the largest. Only of the kinds that the key may read: with `users:read` registration; with `onboarding:read` start, session, invitation, inverter; with `webhooks:manage` endpoint.
         */
        get: operations["groupStalled"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stalled/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Note who works on something that is stalled, or leave it until later
         * @description Changes what is given; null removes it. `id` is that of the subject, and the key needs a scope of its kind: for registration `users:write` or `registrations:decide`, for start `onboarding:write`, for session `onboarding:write`, for invitation `onboarding:write` or `invitations:write`, for inverter `onboarding:write`, for endpoint `webhooks:manage`. Note and assignee stay while it is stalled, whatever the cause, and end with the stall. What is snoozed stays listed; it wakes earlier if its cause or its evidence changes.
         */
        patch: operations["workOnStalled"];
        trace?: never;
    };
    "/api/v1/registrations/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a registration again
         * @description For pending, uncertain and rejected registrations. If an uncertain one was registered after all, this may register it twice.
         */
        post: operations["retryRegistration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/registrations/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Discard a registration
         * @description For pending, uncertain and rejected registrations. The tenantReference may then be registered again.
         */
        post: operations["discardRegistration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/registrations/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enter the user that the provider confirmed
         * @description For registrations in any status but registered. The body is the user object of the remote service.
         */
        post: operations["resolveRegistration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/registrations/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry or discard many registrations
         * @description Each of them as `POST /registrations/{id}/retry` or `…/discard` would, at most 1000 per call; give `ids` or `filter`. A retry of an uncertain registration may register its user twice: first ask the provider. Read the result for each registration.
         */
        post: operations["decideRegistrations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Do an operation for many ids
         * @description For at most 1,000 ids, and for operations with `x-bulk`, with the scopes of the operation. Each id is acted on once, in the order given, also if the caller goes away or a process dies, and gets what a request of its own would get. What no longer exists or has changed so that the operation does not apply is skipped.
         */
        post: operations["createBulkAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk-actions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a bulk action, with the result for each id
         * @description Needs the scopes of its operation. Actions are deleted `RETENTION_DELIVERIES_DAYS` after their end.
         */
        get: operations["readBulkAction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of the deployment: what is wrong, who is alive, the remote service, the poller and the outbox
         * @description Replicas, backlogs, the token and `remote.deployment` concern the whole deployment; the rest of `remote` and the open streams concern the responding replica. Workers respond, too.
         */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The status of the last hours: the reasons and the main figures over time
         * @description One sample per minute is stored for 8 days. There are at most some 300 points.
         */
        get: operations["getStatusHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status/credentials/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request an access token from the remote service now
         * @description After refused credentials, the next attempt waits up to 5 minutes. This call makes the attempt now, for all replicas, at most once every 5 seconds.
         */
        post: operations["probeCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{userId}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the personal data of a user
         * @description One document with everything that an erasure would remove, by table, as it is stored: for a request of access (GDPR, article 15) or before an erasure. Links, tokens, their hashes and each `startUrl` are not part of it, because they open something. Each export is in the audit log.
         */
        get: operations["exportUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/onboarding/pv/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session
         * @description Returns our copy, which the service updates regularly. `maxAge` reads the remote service first if the copy is older, and `stale=allow` responds with the copy if that fails; `wait` responds as soon as the state changes.
         */
        get: operations["readSession"];
        put?: never;
        /**
         * Start a session for a grid location
         * @description Returns 200 with the session of the same location and brand that is open or online, if there is one: a double click returns the same session, and a customer who is online is not asked to authorise again. The `startUrl` of an online session is null. Set `reuse` to false to connect further inverters of the brand; send an `Idempotency-Key` with it, so that a repetition gets the session that the first request has started.
         */
        post: operations["startSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an event at a webhook endpoint
         * @description Sent at least once, in order within a `subject`, signed according to Standard Webhooks.
         */
        post: operations["receiveEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        LivenessView: {
            /** @enum {string} */
            status: "live";
        };
        ReadinessView: {
            /** @enum {string} */
            status: "ready" | "unready";
            /** @description What is missing, for people; empty when ready */
            missing: string[];
            /** @description What is wrong with all replicas alike, for people */
            warnings: string[];
        };
        ProblemKindView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "problem_kind";
            /** @enum {string} */
            code: "invalid_request" | "invalid_json" | "ean_rounded" | "campaign_empty" | "campaign_columns" | "campaign_unreadable" | "campaign_rounded" | "unauthenticated" | "forbidden" | "not_from_console" | "not_found" | "method_not_allowed" | "request_timeout" | "tenant_reference_conflict" | "registration_conflict" | "campaign_conflict" | "invitation_conflict" | "stall_over" | "session_closed" | "webhook_endpoint_limit" | "body_too_large" | "unsupported_media_type" | "remote_rejected" | "idempotency_key_reused" | "too_many_requests" | "headers_too_large" | "internal_error" | "remote_credentials_rejected" | "remote_response_lost" | "replica_busy" | "remote_unavailable" | "database_unavailable";
            status: number;
            title: string;
            /** @description When the problem occurs, and what to do */
            meaning: string;
        };
        GridLocationInput: {
            /** @description The EAN of the grid connection: 18 digits, not beginning with 0. A bare JSON number is also accepted, but clients whose numbers are doubles round it */
            ean: string;
        };
        RegisterUserInput: {
            /** @description The tenant's own reference for the user; it has at most one live registration. Stored in Unicode's composed form (NFC), without blanks at its ends and without an apostrophe before it. No control, invisible or direction characters */
            tenantReference: string;
            /** @description Each EAN once */
            gridLocations: components["schemas"]["GridLocationInput"][];
            /** @description Whether each EAN is right although it looks rounded. Compare them with your system first. Default: false */
            eanConfirmed?: boolean;
            /** @description Your own data, returned unchanged in responses and events; at most 4,096 bytes, at most 8 levels deep. No personal data */
            metadata?: {
                [key: string]: unknown;
            };
        };
        GridLocationView: {
            /**
             * Format: uuid
             * @description The remote service's id, used to start onboarding sessions
             */
            id: string;
            /** @description Always 18 digits */
            ean: string;
        };
        WarningView: {
            /** @description The place in the request */
            field: string;
            /**
             * @description ean_check_digit: the GS1 check digit is wrong, so a digit is probably mistyped. ean_elsewhere: other references have this EAN, too. reference_normalised: the reference is stored in another form. reference_alike: other references look like it. reference_rounded: it looks rounded.
             * @enum {string}
             */
            code: "ean_check_digit" | "ean_elsewhere" | "reference_normalised" | "reference_alike" | "reference_rounded";
            /** @description For people. Does not repeat the EAN */
            message: string;
        };
        RegisteredUserView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "user";
            /** Format: uuid */
            id: string;
            tenantReference: string;
            /** @description As returned by the remote service, like the names and the email; often empty */
            tenantName: string;
            firstName: string;
            lastName: string;
            email: string;
            /** @description Ordered by EAN */
            gridLocations: components["schemas"]["GridLocationView"][];
            /** @description As given at the registration */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description The remote service's time; the time of the confirmation if it gave none in the years 1 to 9999
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The remote service's time; `createdAt` if it gave none in the years 1 to 9999
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description When we recorded the confirmation
             */
            registeredAt: string;
            /** @description What is conspicuous about the request, which was accepted nevertheless. Empty if nothing is */
            warnings: components["schemas"]["WarningView"][];
        };
        RequestedGridLocationView: {
            ean: string;
        };
        RemedyView: {
            /** @description An operation of this API */
            operationId: string;
            method: string;
            /** @description With the ids of what is stalled */
            path: string;
            /** @description null if there is none, or if a person has to write it */
            body: {
                [key: string]: unknown;
            } | null;
            /** @description In a few words */
            label: string;
            /** @description What cannot be undone, in words; null if it can */
            confirm: string | null;
        };
        StalledView: {
            /** @description Why it does not continue by itself: a code of the catalogue */
            cause: string;
            /**
             * @description Who has to act next; us: who operates the service
             * @enum {string}
             */
            waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
            /**
             * @description now: every hour makes it worse. soon: within a day. later: a person may look.
             * @enum {string}
             */
            urgency: "now" | "soon" | "later";
            /**
             * Format: date-time
             * @description When the trouble began; it counts only after a threshold
             */
            since: string;
            /** @description What was found, and the threshold */
            evidence: {
                [key: string]: unknown;
            };
            /** @description The cause in one sentence */
            text: string;
            /** @description What a person has to do before the remedies, or without any */
            before: string | null;
            /** @description Operations that end it; empty if there is none */
            remedies: components["schemas"]["RemedyView"][];
        };
        OpenRegistrationView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "registration";
            /** Format: uuid */
            id: string;
            tenantReference: string;
            /** @description In the order sent */
            gridLocations: components["schemas"]["RequestedGridLocationView"][];
            /**
             * @description pending: not sent yet, or being sent. registered: see userId. rejected: the remote service refused it. uncertain: the remote service may have registered it; a person decides. discarded: a person gave it up.
             * @enum {string}
             */
            status: "pending" | "registered" | "rejected" | "uncertain" | "discarded";
            /**
             * Format: uuid
             * @description Only if registered
             */
            userId: string | null;
            /** @description Number of calls started for it */
            attempts: number;
            /** @description Why the last call returned no user, in words */
            lastError: string | null;
            /**
             * Format: date-time
             * @description When a pending registration is sent next
             */
            nextAttemptAt: string | null;
            /** @description As given in the request that created it */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets its sequence just after its change is committed: a read in between may have the sequence of the previous event */
            sequence: string | null;
            /** @description What is conspicuous about the request, which was accepted nevertheless. Empty if nothing is */
            warnings: components["schemas"]["WarningView"][];
        };
        UserView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "user";
            /** Format: uuid */
            id: string;
            tenantReference: string;
            /** @description As returned by the remote service, like the names and the email; often empty */
            tenantName: string;
            firstName: string;
            lastName: string;
            email: string;
            /** @description Ordered by EAN */
            gridLocations: components["schemas"]["GridLocationView"][];
            /** @description As given at the registration */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description The remote service's time; the time of the confirmation if it gave none in the years 1 to 9999
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The remote service's time; `createdAt` if it gave none in the years 1 to 9999
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description When we recorded the confirmation
             */
            registeredAt: string;
        };
        RegistrationView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "registration";
            /** Format: uuid */
            id: string;
            tenantReference: string;
            /** @description In the order sent */
            gridLocations: components["schemas"]["RequestedGridLocationView"][];
            /**
             * @description pending: not sent yet, or being sent. registered: see userId. rejected: the remote service refused it. uncertain: the remote service may have registered it; a person decides. discarded: a person gave it up.
             * @enum {string}
             */
            status: "pending" | "registered" | "rejected" | "uncertain" | "discarded";
            /**
             * Format: uuid
             * @description Only if registered
             */
            userId: string | null;
            /** @description Number of calls started for it */
            attempts: number;
            /** @description Why the last call returned no user, in words */
            lastError: string | null;
            /**
             * Format: date-time
             * @description When a pending registration is sent next
             */
            nextAttemptAt: string | null;
            /** @description As given in the request that created it */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets its sequence just after its change is committed: a read in between may have the sequence of the previous event */
            sequence: string | null;
        };
        NewSession: {
            /** @description The inverter brand; one session connects inverters of one brand */
            brand?: string;
            /** @description Your own data, returned unchanged in responses and events; at most 4,096 bytes. No personal data */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Return the session of this location and brand that is open or online, if there is one. Default: true */
            reuse?: boolean;
        };
        SessionInverterView: {
            /**
             * Format: uuid
             * @description The remote id, for data and curtailment calls
             */
            id: string;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            lastSeenAt: string;
            /**
             * Format: date-time
             * @description When its session stopped listing it; null while it is listed
             */
            missingSince: string | null;
        };
        SessionView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "session";
            /**
             * Format: uuid
             * @description The remote sessionId, valid in both systems
             */
            id: string;
            /** Format: uuid */
            userId: string;
            /** Format: uuid */
            gridLocationId: string;
            /** @description null once the user has been erased */
            tenantReference: string | null;
            brand: string | null;
            /** @description As given at the start */
            metadata: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
            /**
             * @description Whether the remote service stated it or we inferred it
             * @enum {string}
             */
            basis: "observed" | "inferred";
            /** @description As in the last response of the remote service */
            finished: boolean;
            active: boolean;
            /** @description null until the remote service states it */
            expired: boolean | null;
            inverters: components["schemas"]["SessionInverterView"][];
            /**
             * Format: date-time
             * @description The remote service's time
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The remote service's time
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description The remote service's time; the interface does not specify what happens then
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When the remote service was last read
             */
            checkedAt: string;
            /**
             * Format: date-time
             * @description When we found the state: up to one interval between reads after it changed
             */
            stateChangedAt: string;
            /**
             * Format: date-time
             * @description When it was first found online, whatever its state is now; null if it never was
             */
            onlineAt: string | null;
            /** @description Only in the response to a read with `stale=allow`. true: older than `maxAge`, because the remote service could not be read */
            stale?: boolean;
            /**
             * Format: date-time
             * @description When it is read next; null if it is no longer watched
             */
            nextCheckAt: string | null;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /**
             * Format: date-time
             * @description When the watch ended, or the session was settled, after which it is seldom read; else null
             */
            closedAt: string | null;
            /**
             * Format: date-time
             * @description When a newer session of its location and brand took its place; null if none has
             */
            supersededAt: string | null;
            /** @description The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets its sequence just after its change is committed: a read in between may have the sequence of the previous event */
            sequence: string | null;
            /**
             * Format: uri
             * @description Link for the PV owner. Anyone who has it may act for the owner; null without the scope `links:read` or once the web flow is over
             */
            startUrl: string | null;
        };
        StartView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "start";
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            gridLocationId: string;
            /** Format: uuid */
            userId: string;
            /** @description null once the user has been erased */
            tenantReference: string | null;
            brand: string | null;
            /**
             * @description sending: the call is in flight, or its outcome is being stored. started: see sessionId. failed: there is no session, and `error` says why.
             * @enum {string}
             */
            status: "sending" | "started" | "failed";
            /** @description Why the last call that returned no session did not, in words; null if there was none */
            error: string | null;
            /** @description How often it was sent, or was about to be sent */
            attempts: number;
            /** @description How many sessions the remote service may have started for it whose id nobody knows; they expire there unused */
            orphans: number;
            /**
             * Format: uuid
             * @description Only if started
             */
            sessionId: string | null;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        InverterView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "inverter";
            /**
             * Format: uuid
             * @description The remote id, for data and curtailment calls
             */
            id: string;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            lastSeenAt: string;
            /**
             * Format: date-time
             * @description When its session stopped listing it; null while it is listed
             */
            missingSince: string | null;
            /**
             * Format: uuid
             * @description The session that lists it, or listed it last
             */
            sessionId: string;
            /** Format: uuid */
            userId: string;
            /** Format: uuid */
            gridLocationId: string;
            brand: string | null;
        };
        TimelineEntryView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "timeline_entry";
            /**
             * Format: date-time
             * @description When it happened in our database
             */
            at: string;
            /**
             * @description An `observation` is a response of the remote service that differed from the one before. Reads that failed or brought nothing new are no entries.
             * @enum {string}
             */
            kind: "start" | "observation" | "transition" | "superseded" | "closed" | "event";
            /** @description What happened, in words */
            summary: string;
            /** @description The same as fields */
            details: {
                [key: string]: unknown;
            };
        };
        FeedView: {
            items: components["schemas"]["FeedEvent"][];
            /** @description The `after` of the next request, always present. Skips events that were filtered out; unchanged if there are no new events */
            next: string;
        };
        /**
         * @description The type of an event, or its name
         * @enum {string}
         */
        WebhookEventType: "pv.user.registered.v1" | "user.registered" | "pv.user.registration_pending.v1" | "user.registration_pending" | "pv.user.registration_rejected.v1" | "user.registration_rejected" | "pv.user.registration_uncertain.v1" | "user.registration_uncertain" | "pv.user.registration_discarded.v1" | "user.registration_discarded" | "pv.user.erased.v1" | "user.erased" | "pv.session.started.v1" | "session.started" | "pv.session.start_failed.v1" | "session.start_failed" | "pv.session.awaiting_owner.v1" | "session.awaiting_owner" | "pv.session.awaiting_installation.v1" | "session.awaiting_installation" | "pv.session.online.v1" | "session.online" | "pv.session.expired.v1" | "session.expired" | "pv.session.lost.v1" | "session.lost" | "pv.session.unrecognised.v1" | "session.unrecognised" | "pv.session.closed.v1" | "session.closed" | "pv.session.reopened.v1" | "session.reopened" | "pv.session.flapping.v1" | "session.flapping" | "pv.stall.raised.v1" | "stall.raised" | "pv.stall.cleared.v1" | "stall.cleared" | "pv.invitation.created.v1" | "invitation.created" | "pv.invitation.opened.v1" | "invitation.opened" | "pv.invitation.expired.v1" | "invitation.expired" | "pv.invitation.revoked.v1" | "invitation.revoked" | "pv.invitation.declined.v1" | "invitation.declined" | "pv.invitation.renewal_requested.v1" | "invitation.renewal_requested" | "pv.consent.given.v1" | "consent.given" | "pv.consent.withdrawn.v1" | "consent.withdrawn" | "pv.invitation.reminder_due.v1" | "invitation.reminder_due" | "pv.campaign.finished.v1" | "campaign.finished" | "pv.inverter.online.v1" | "inverter.online" | "pv.inverter.missing.v1" | "inverter.missing" | "pv.remote.degraded.v1" | "remote.degraded" | "pv.remote.recovered.v1" | "remote.recovered" | "pv.remote.credentials_rejected.v1" | "remote.credentials_rejected" | "pv.remote.budget_short.v1" | "remote.budget_short" | "pv.remote.budget_sufficient.v1" | "remote.budget_sufficient" | "pv.remote.contract_drift.v1" | "remote.contract_drift" | "pv.webhook_endpoint.disabled.v1" | "webhook_endpoint.disabled";
        NewWebhookEndpoint: {
            /** @description Event types to send: `pv.session.online.v1`, or `session.online` for short. Empty: all, including future ones. Default for a new endpoint: all */
            types?: components["schemas"]["WebhookEventType"][];
            /** @description A note for people */
            description?: string;
            /** @description Sent with every webhook: Authorization, and names that begin with X-; at most 10, each of at most 1,024 printable ASCII characters. Stored encrypted and never returned */
            headers?: {
                [key: string]: string;
            };
            /**
             * Format: uri
             * @description https, or http if the deployment allows it; without user, password and fragment
             */
            url: string;
            /** @description Your own secret: `whsec_` and base64 of 24 to 64 bytes. Default: 32 random bytes */
            secret?: string;
        };
        CreatedWebhookEndpointView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_endpoint";
            /** Format: uuid */
            id: string;
            /** Format: uri */
            url: string;
            /** @description Subscribed event types. Empty: all */
            types: ("pv.user.registered.v1" | "pv.user.registration_pending.v1" | "pv.user.registration_rejected.v1" | "pv.user.registration_uncertain.v1" | "pv.user.registration_discarded.v1" | "pv.user.erased.v1" | "pv.session.started.v1" | "pv.session.start_failed.v1" | "pv.session.awaiting_owner.v1" | "pv.session.awaiting_installation.v1" | "pv.session.online.v1" | "pv.session.expired.v1" | "pv.session.lost.v1" | "pv.session.unrecognised.v1" | "pv.session.closed.v1" | "pv.session.reopened.v1" | "pv.session.flapping.v1" | "pv.stall.raised.v1" | "pv.stall.cleared.v1" | "pv.invitation.created.v1" | "pv.invitation.opened.v1" | "pv.invitation.expired.v1" | "pv.invitation.revoked.v1" | "pv.invitation.declined.v1" | "pv.invitation.renewal_requested.v1" | "pv.consent.given.v1" | "pv.consent.withdrawn.v1" | "pv.invitation.reminder_due.v1" | "pv.campaign.finished.v1" | "pv.inverter.online.v1" | "pv.inverter.missing.v1" | "pv.remote.degraded.v1" | "pv.remote.recovered.v1" | "pv.remote.credentials_rejected.v1" | "pv.remote.budget_short.v1" | "pv.remote.budget_sufficient.v1" | "pv.remote.contract_drift.v1" | "pv.webhook_endpoint.disabled.v1")[];
            description: string;
            /** @description The names of the custom headers; their values are never returned */
            headerNames: string[];
            enabled: boolean;
            /** Format: date-time */
            disabledAt: string | null;
            /**
             * @description requested: by a person or app; gone: the receiver responded with 410; failing: every attempt failed for days
             * @enum {string|null}
             */
            disabledReason: "requested" | "gone" | "failing" | null;
            /** @description Consecutive failed attempts, across all events */
            failures: number;
            /**
             * Format: date-time
             * @description Time of the first of these failures
             */
            failingSince: string | null;
            /** Format: date-time */
            lastDeliveredAt: string | null;
            /**
             * Format: date-time
             * @description When the last rotated secret stops signing
             */
            previousSecretUntil: string | null;
            /** @description Events to be sent or retried; counted up to 10,000 */
            pending: number;
            /** @description Events of all types after its position in the feed; grows while it is disabled */
            unread: number;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Signs webhooks. It is shown only once */
            secret: string;
        };
        WebhookEndpointView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_endpoint";
            /** Format: uuid */
            id: string;
            /** Format: uri */
            url: string;
            /** @description Subscribed event types. Empty: all */
            types: ("pv.user.registered.v1" | "pv.user.registration_pending.v1" | "pv.user.registration_rejected.v1" | "pv.user.registration_uncertain.v1" | "pv.user.registration_discarded.v1" | "pv.user.erased.v1" | "pv.session.started.v1" | "pv.session.start_failed.v1" | "pv.session.awaiting_owner.v1" | "pv.session.awaiting_installation.v1" | "pv.session.online.v1" | "pv.session.expired.v1" | "pv.session.lost.v1" | "pv.session.unrecognised.v1" | "pv.session.closed.v1" | "pv.session.reopened.v1" | "pv.session.flapping.v1" | "pv.stall.raised.v1" | "pv.stall.cleared.v1" | "pv.invitation.created.v1" | "pv.invitation.opened.v1" | "pv.invitation.expired.v1" | "pv.invitation.revoked.v1" | "pv.invitation.declined.v1" | "pv.invitation.renewal_requested.v1" | "pv.consent.given.v1" | "pv.consent.withdrawn.v1" | "pv.invitation.reminder_due.v1" | "pv.campaign.finished.v1" | "pv.inverter.online.v1" | "pv.inverter.missing.v1" | "pv.remote.degraded.v1" | "pv.remote.recovered.v1" | "pv.remote.credentials_rejected.v1" | "pv.remote.budget_short.v1" | "pv.remote.budget_sufficient.v1" | "pv.remote.contract_drift.v1" | "pv.webhook_endpoint.disabled.v1")[];
            description: string;
            /** @description The names of the custom headers; their values are never returned */
            headerNames: string[];
            enabled: boolean;
            /** Format: date-time */
            disabledAt: string | null;
            /**
             * @description requested: by a person or app; gone: the receiver responded with 410; failing: every attempt failed for days
             * @enum {string|null}
             */
            disabledReason: "requested" | "gone" | "failing" | null;
            /** @description Consecutive failed attempts, across all events */
            failures: number;
            /**
             * Format: date-time
             * @description Time of the first of these failures
             */
            failingSince: string | null;
            /** Format: date-time */
            lastDeliveredAt: string | null;
            /**
             * Format: date-time
             * @description When the last rotated secret stops signing
             */
            previousSecretUntil: string | null;
            /** @description Events to be sent or retried; counted up to 10,000 */
            pending: number;
            /** @description Events of all types after its position in the feed; grows while it is disabled */
            unread: number;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        WebhookEndpointChange: {
            /** @description Event types to send: `pv.session.online.v1`, or `session.online` for short. Empty: all, including future ones. Default for a new endpoint: all */
            types?: components["schemas"]["WebhookEventType"][];
            /** @description A note for people */
            description?: string;
            /** @description Sent with every webhook: Authorization, and names that begin with X-; at most 10, each of at most 1,024 printable ASCII characters. Stored encrypted and never returned */
            headers?: {
                [key: string]: string;
            };
            /**
             * Format: uri
             * @description A URL of another origin requires `headers` and `secret`, so that those of the previous receiver are not sent to another
             */
            url?: string;
            /** @description Your own secret: `whsec_` and base64 of 24 to 64 bytes. Only together with `url`; it replaces all earlier secrets at once. Otherwise, use /rotate-secret */
            secret?: string;
            /** @description false: nothing is sent, but no event is lost. true: sending resumes at the event at which it stopped */
            enabled?: boolean;
            /** @description With `enabled: true` on a disabled endpoint: skip the missed events. Pending deliveries become `failed`; /redeliver can send any missed event */
            skipMissed?: boolean;
        };
        SecretRotation: {
            /** @description Your own secret: `whsec_` and base64 of 24 to 64 bytes. Default: 32 random bytes */
            secret?: string;
            /** @description How long the current secret still signs. 0: it and all previously rotated secrets stop signing at once. Default: 86400 */
            overlapSeconds?: number;
        };
        RotatedSecretView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_secret";
            /** @description Signs webhooks from now on. It is shown only once */
            secret: string;
            /**
             * Format: date-time
             * @description When the last previous secret stops signing; null if none signs
             */
            previousSecretUntil: string | null;
        };
        WebhookTestView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_test";
            /** @description Whether the receiver responded with 2xx */
            delivered: boolean;
            /**
             * Format: uuid
             * @description Sent as `webhook-id`
             */
            eventId: string;
            /** @description HTTP status; null if there was no response */
            status: number | null;
            /** @description Why the attempt failed; null if it succeeded */
            error: string | null;
            /** @description The first kilobyte of the response body, with secrets removed; null if there was no body */
            answer: string | null;
            /** @description Duration from resolving the name to the end of the response */
            durationMs: number;
        };
        WebhookDeliveryView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_delivery";
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpointId: string;
            /**
             * Format: uuid
             * @description Sent as `webhook-id`, the same at every attempt
             */
            eventId: string;
            /** @enum {string} */
            type: "pv.user.registered.v1" | "pv.user.registration_pending.v1" | "pv.user.registration_rejected.v1" | "pv.user.registration_uncertain.v1" | "pv.user.registration_discarded.v1" | "pv.user.erased.v1" | "pv.session.started.v1" | "pv.session.start_failed.v1" | "pv.session.awaiting_owner.v1" | "pv.session.awaiting_installation.v1" | "pv.session.online.v1" | "pv.session.expired.v1" | "pv.session.lost.v1" | "pv.session.unrecognised.v1" | "pv.session.closed.v1" | "pv.session.reopened.v1" | "pv.session.flapping.v1" | "pv.stall.raised.v1" | "pv.stall.cleared.v1" | "pv.invitation.created.v1" | "pv.invitation.opened.v1" | "pv.invitation.expired.v1" | "pv.invitation.revoked.v1" | "pv.invitation.declined.v1" | "pv.invitation.renewal_requested.v1" | "pv.consent.given.v1" | "pv.consent.withdrawn.v1" | "pv.invitation.reminder_due.v1" | "pv.campaign.finished.v1" | "pv.inverter.online.v1" | "pv.inverter.missing.v1" | "pv.remote.degraded.v1" | "pv.remote.recovered.v1" | "pv.remote.credentials_rejected.v1" | "pv.remote.budget_short.v1" | "pv.remote.budget_sufficient.v1" | "pv.remote.contract_drift.v1" | "pv.webhook_endpoint.disabled.v1";
            /** @description Position of the event in the feed */
            sequence: string;
            /** @description The subject of the event. An endpoint receives the events of one subject one at a time, in order */
            subject: string;
            /**
             * @description pending: to be sent or retried; delivered: the endpoint responded with 2xx; failed: given up after the whole retry schedule, or skipped
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description Attempts since its creation or last redelivery request */
            attempts: number;
            /**
             * Format: date-time
             * @description Time of the next attempt. null unless pending, and while an earlier event of the subject is pending
             */
            nextAttemptAt: string | null;
            /** Format: date-time */
            lastAttemptAt: string | null;
            /** @description HTTP status of the last response; null if there was none */
            lastStatus: number | null;
            /** @description Why the last attempt failed */
            lastError: string | null;
            /** @description The first kilobyte of the body of the last response; null if there was none, and after an erasure */
            lastAnswer: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        PreviousAttempt: {
            /** Format: date-time */
            attemptedAt: string;
            /** @description HTTP status of the response; null if there was none */
            status: number | null;
            /** @description Why the attempt failed */
            error: string | null;
            /** @description The first kilobyte of the body; null if there was none */
            answer: string | null;
        };
        WebhookDeliveryDetailView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_delivery";
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpointId: string;
            /**
             * Format: uuid
             * @description Sent as `webhook-id`, the same at every attempt
             */
            eventId: string;
            /** @enum {string} */
            type: "pv.user.registered.v1" | "pv.user.registration_pending.v1" | "pv.user.registration_rejected.v1" | "pv.user.registration_uncertain.v1" | "pv.user.registration_discarded.v1" | "pv.user.erased.v1" | "pv.session.started.v1" | "pv.session.start_failed.v1" | "pv.session.awaiting_owner.v1" | "pv.session.awaiting_installation.v1" | "pv.session.online.v1" | "pv.session.expired.v1" | "pv.session.lost.v1" | "pv.session.unrecognised.v1" | "pv.session.closed.v1" | "pv.session.reopened.v1" | "pv.session.flapping.v1" | "pv.stall.raised.v1" | "pv.stall.cleared.v1" | "pv.invitation.created.v1" | "pv.invitation.opened.v1" | "pv.invitation.expired.v1" | "pv.invitation.revoked.v1" | "pv.invitation.declined.v1" | "pv.invitation.renewal_requested.v1" | "pv.consent.given.v1" | "pv.consent.withdrawn.v1" | "pv.invitation.reminder_due.v1" | "pv.campaign.finished.v1" | "pv.inverter.online.v1" | "pv.inverter.missing.v1" | "pv.remote.degraded.v1" | "pv.remote.recovered.v1" | "pv.remote.credentials_rejected.v1" | "pv.remote.budget_short.v1" | "pv.remote.budget_sufficient.v1" | "pv.remote.contract_drift.v1" | "pv.webhook_endpoint.disabled.v1";
            /** @description Position of the event in the feed */
            sequence: string;
            /** @description The subject of the event. An endpoint receives the events of one subject one at a time, in order */
            subject: string;
            /**
             * @description pending: to be sent or retried; delivered: the endpoint responded with 2xx; failed: given up after the whole retry schedule, or skipped
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description Attempts since its creation or last redelivery request */
            attempts: number;
            /**
             * Format: date-time
             * @description Time of the next attempt. null unless pending, and while an earlier event of the subject is pending
             */
            nextAttemptAt: string | null;
            /** Format: date-time */
            lastAttemptAt: string | null;
            /** @description HTTP status of the last response; null if there was none */
            lastStatus: number | null;
            /** @description Why the last attempt failed */
            lastError: string | null;
            /** @description The first kilobyte of the body of the last response; null if there was none, and after an erasure */
            lastAnswer: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @description The attempts before the last one, the latest first, at most 20; also those before a redelivery request. Empty after an erasure */
            previousAttempts: components["schemas"]["PreviousAttempt"][];
        };
        RedeliveryRequest: {
            /** @description Only these deliveries. Either this or `after` is required */
            deliveryIds?: string[];
            /** @description Every event after this `sequence` that matches the types of the endpoint, whether delivered before or not; `0` for all */
            after?: string;
            /** @description With `after`: up to and including this `sequence`. Default: the position of the endpoint in the feed */
            until?: string;
            /** @description With `after`: only these of the types of the endpoint */
            types?: components["schemas"]["WebhookEventType"][];
            /** @description With `after`: only failed deliveries. Default: false */
            onlyFailed?: boolean;
        };
        RedeliveryView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "webhook_redelivery";
            /** @description How many events are now pending */
            redelivered: number;
            /** @description null if the range is done. Otherwise the range was too long for one request; send the rest with this as `after` */
            next: string | null;
        };
        NewInvitation: {
            /**
             * Format: uuid
             * @description Required unless `tenantReference` is given
             */
            gridLocationId?: string;
            /** @description In place of `gridLocationId`, for a user with one grid location */
            tenantReference?: string;
            /** @description The brands to connect, each of at most 100 characters. Default: the remote service asks for the brand */
            brands?: string[];
            /**
             * @description The language of the owner's page. Default: the language of the browser
             * @enum {string}
             */
            locale?: "en" | "nl" | "de" | "fr";
            /** @description What you expect to come online */
            expected?: {
                inverters?: number;
            };
            /** @description Your own data, returned unchanged in responses and events. The page shows a text `label` as the name of the place. No personal data */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: uri
             * @description Where the page leads once all is done: https, of an origin in `INVITATION_RETURN_ORIGINS`
             */
            returnUrl?: string;
            /**
             * Format: date-time
             * @description In the future, at most 366 days. Default: `INVITATION_TTL_DAYS` from now
             */
            expiresAt?: string;
        };
        ExpectedView: {
            /** @description null if not given */
            inverters: number | null;
        };
        InvitationView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "invitation";
            /**
             * Format: uuid
             * @description Not part of the link
             */
            id: string;
            /**
             * @description `owner_done` is inferred
             * @enum {string}
             */
            state: "invited" | "opened" | "started" | "owner_done" | "online" | "expired" | "declined" | "revoked";
            /**
             * Format: uuid
             * @description The grid location whose owner is invited
             */
            gridLocationId: string;
            /**
             * Format: uuid
             * @description The user of the grid location
             */
            userId: string;
            /** @description That of the user */
            tenantReference: string;
            /** @description In the order in which the owner is asked */
            brands: string[];
            /**
             * @description Language of the owner's page; null: the language of the browser
             * @enum {string|null}
             */
            locale: "en" | "nl" | "de" | "fr" | null;
            /** @description What the tenant expects at the location */
            expected: components["schemas"]["ExpectedView"];
            /** @description As given */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Where the page leads once the invitation is online, expired or revoked; null: nowhere */
            returnUrl: string | null;
            /**
             * Format: uuid
             * @description null if it was created by itself
             */
            campaignId: string | null;
            /**
             * Format: date-time
             * @description When a person first opened the page
             */
            openedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner's wish first led to a session
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner had probably completed the web flow
             */
            ownerDoneAt: string | null;
            /**
             * Format: date-time
             * @description When the location was first online with each of the brands
             */
            onlineAt: string | null;
            /**
             * Format: date-time
             * @description When all inverters of a session went missing after the location was online, so that the link leads to a new connection; null if it is online, or never was
             */
            disconnectedAt: string | null;
            /**
             * Format: date-time
             * @description From then on the owner cannot begin; one who has begun may finish
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When `DELETE` revoked it
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner declined, or withdrew the consent; null if never, or if it is taken back
             */
            declinedAt: string | null;
            /**
             * @description Why; null if not given
             * @enum {string|null}
             */
            declineReason: "not_interested" | "not_mine" | "login_elsewhere" | null;
            /**
             * Format: date-time
             * @description When the owner withdrew the consent; null if it stands, or none was given
             */
            consentWithdrawnAt: string | null;
            /**
             * Format: date-time
             * @description When the person with the link last asked for a new one, because it no longer works
             */
            renewalRequestedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner was invited
             */
            createdAt: string;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /**
             * Format: date-time
             * @description When the owner was last to be reminded; null if never
             */
            remindedAt: string | null;
            /**
             * Format: date-time
             * @description When the next reminder of the schedule is due, if nothing changes; null if none is planned
             */
            nextReminderAt: string | null;
            /**
             * Format: uri
             * @description The link for the owner. Anyone who has it may act for the owner; null without the scope `links:read`
             */
            url: string | null;
        };
        InvitationLinkView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "invitation_link";
            /**
             * Format: uri
             * @description The link for the owner. Anyone who has it may act for the owner
             */
            url: string;
            /**
             * @description That of the invitation, for which its page serves
             * @enum {string}
             */
            state: "invited" | "opened" | "started" | "owner_done" | "online" | "expired" | "declined" | "revoked";
            /**
             * Format: date-time
             * @description From then on the owner cannot begin; one who has begun may finish
             */
            expiresAt: string;
        };
        InvitationCodeView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "invitation_code";
            /** @description Eight letters, which lead to the link once. It is shown only once; only its hash is stored */
            code: string;
            /**
             * Format: date-time
             * @description From then on it leads nowhere
             */
            expiresAt: string;
            /**
             * Format: uri
             * @description The page on which the owner enters it
             */
            enterAt: string;
        };
        InvitationChange: {
            /**
             * Format: date-time
             * @description In the future, at most 366 days. An invitation that has expired is valid again
             */
            expiresAt?: string;
            /**
             * @description null: the language of the browser
             * @enum {string|null}
             */
            locale?: "en" | "nl" | "de" | "fr" | null;
            /** @description The brands to connect, in place of those before. Empty: the remote service asks for the brand */
            brands?: string[];
            /**
             * Format: uri
             * @description Where the page leads once all is done: https, of an origin in `INVITATION_RETURN_ORIGINS`
             */
            returnUrl?: string | null;
            /** @description What you expect to come online */
            expected?: {
                inverters?: number;
            };
        };
        InvitationMessage: {
            /**
             * @description bounced: it has come back
             * @enum {string}
             */
            status: "sent" | "bounced";
            /**
             * @description How it was sent
             * @enum {string}
             */
            channel: "email" | "sms" | "letter" | "other";
            /**
             * Format: date-time
             * @description When that was. Default, and at the latest: now
             */
            at?: string;
        };
        FunnelView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "funnel_row";
            /** @description The day in UTC, the brand or the campaign; null for invitations without brand or campaign */
            key: string | null;
            /** @description Invitations created in the period, whatever became of them */
            invited: number;
            /** @description Of these, sent to the owner, as `POST /invitations/{id}/messages` has said */
            sent: number;
            /** @description Of these, opened by a person */
            opened: number;
            /** @description Whose owner began the web flow */
            started: number;
            /** @description Whose owner had probably completed it */
            ownerDone: number;
            /** @description That are online with each of their brands */
            online: number;
            /** @description Whose date passed before the owner was done */
            expired: number;
            /** @description That the owner has declined, and not taken that back */
            declined: number;
            /** @description Starts of sessions in the period that failed, with or without an invitation; by brand, those of this brand */
            failedStarts: number;
            /** @description Median from the invitation to online, without owners who were done before it; null without any */
            medianSecondsToOnline: number | null;
            /** @description The time within which 95 % of these came online; null without any */
            p95SecondsToOnline: number | null;
            /** @description The same from the owner being done to online: the median */
            medianSecondsFromDone: number | null;
            /** @description The time within which 95 % of these came online then */
            p95SecondsFromDone: number | null;
        };
        FunnelPage: {
            items: components["schemas"]["FunnelView"][];
        };
        BrandView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "brand";
            /** @description As sessions, invitations and filters have it */
            id: string;
            /** @description As people know it */
            name: string;
        };
        BrandsPage: {
            items: components["schemas"]["BrandView"][];
        };
        CaseExpectedView: {
            /** @description Those that the owner is asked to connect; empty if any will do */
            brands: string[];
            /** @description null if the invitation says no number */
            inverters: number | null;
        };
        CaseOnlineView: {
            /** @description Those of the online sessions */
            brands: string[];
            /** @description Those of online sessions that the remote service lists */
            inverters: number;
        };
        CaseMissingView: {
            /** @description Expected, and without an online session */
            brands: string[];
            /** @description null if no number is expected */
            inverters: number | null;
        };
        BrandNameView: {
            /** @description As sessions, starts and invitations have it */
            id: string;
            /** @description As people know it, by INVERTER_BRANDS_FILE. Default: the id */
            name: string;
        };
        CaseSessionView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "session";
            /**
             * Format: uuid
             * @description The remote sessionId, valid in both systems
             */
            id: string;
            /** Format: uuid */
            userId: string;
            /** Format: uuid */
            gridLocationId: string;
            /** @description null once the user has been erased */
            tenantReference: string | null;
            brand: string | null;
            /** @description As given at the start */
            metadata: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
            /**
             * @description Whether the remote service stated it or we inferred it
             * @enum {string}
             */
            basis: "observed" | "inferred";
            /** @description As in the last response of the remote service */
            finished: boolean;
            active: boolean;
            /** @description null until the remote service states it */
            expired: boolean | null;
            inverters: components["schemas"]["SessionInverterView"][];
            /**
             * Format: date-time
             * @description The remote service's time
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The remote service's time
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description The remote service's time; the interface does not specify what happens then
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When the remote service was last read
             */
            checkedAt: string;
            /**
             * Format: date-time
             * @description When we found the state: up to one interval between reads after it changed
             */
            stateChangedAt: string;
            /**
             * Format: date-time
             * @description When it was first found online, whatever its state is now; null if it never was
             */
            onlineAt: string | null;
            /** @description Only in the response to a read with `stale=allow`. true: older than `maxAge`, because the remote service could not be read */
            stale?: boolean;
            /**
             * Format: date-time
             * @description When it is read next; null if it is no longer watched
             */
            nextCheckAt: string | null;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
            /**
             * Format: date-time
             * @description When the watch ended, or the session was settled, after which it is seldom read; else null
             */
            closedAt: string | null;
            /**
             * Format: date-time
             * @description When a newer session of its location and brand took its place; null if none has
             */
            supersededAt: string | null;
            /** @description The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets its sequence just after its change is committed: a read in between may have the sequence of the previous event */
            sequence: string | null;
        };
        CaseInvitationView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "invitation";
            /**
             * Format: uuid
             * @description Not part of the link
             */
            id: string;
            /**
             * @description `owner_done` is inferred
             * @enum {string}
             */
            state: "invited" | "opened" | "started" | "owner_done" | "online" | "expired" | "declined" | "revoked";
            /**
             * Format: uuid
             * @description The grid location whose owner is invited
             */
            gridLocationId: string;
            /**
             * Format: uuid
             * @description The user of the grid location
             */
            userId: string;
            /** @description That of the user */
            tenantReference: string;
            /** @description In the order in which the owner is asked */
            brands: string[];
            /**
             * @description Language of the owner's page; null: the language of the browser
             * @enum {string|null}
             */
            locale: "en" | "nl" | "de" | "fr" | null;
            /** @description What the tenant expects at the location */
            expected: components["schemas"]["ExpectedView"];
            /** @description As given */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Where the page leads once the invitation is online, expired or revoked; null: nowhere */
            returnUrl: string | null;
            /**
             * Format: uuid
             * @description null if it was created by itself
             */
            campaignId: string | null;
            /**
             * Format: date-time
             * @description When a person first opened the page
             */
            openedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner's wish first led to a session
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner had probably completed the web flow
             */
            ownerDoneAt: string | null;
            /**
             * Format: date-time
             * @description When the location was first online with each of the brands
             */
            onlineAt: string | null;
            /**
             * Format: date-time
             * @description When all inverters of a session went missing after the location was online, so that the link leads to a new connection; null if it is online, or never was
             */
            disconnectedAt: string | null;
            /**
             * Format: date-time
             * @description From then on the owner cannot begin; one who has begun may finish
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When `DELETE` revoked it
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner declined, or withdrew the consent; null if never, or if it is taken back
             */
            declinedAt: string | null;
            /**
             * @description Why; null if not given
             * @enum {string|null}
             */
            declineReason: "not_interested" | "not_mine" | "login_elsewhere" | null;
            /**
             * Format: date-time
             * @description When the owner withdrew the consent; null if it stands, or none was given
             */
            consentWithdrawnAt: string | null;
            /**
             * Format: date-time
             * @description When the person with the link last asked for a new one, because it no longer works
             */
            renewalRequestedAt: string | null;
            /**
             * Format: date-time
             * @description When the owner was invited
             */
            createdAt: string;
            /** @description Why it does not continue by itself, and what can be done; null if it does */
            stalled: components["schemas"]["StalledView"] | null;
        };
        CaseView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "case";
            /**
             * Format: uuid
             * @description The remote id of the grid location
             */
            gridLocationId: string;
            /** @description Always 18 digits; null without the scope `users:read` */
            ean: string | null;
            /**
             * Format: uuid
             * @description The user of the grid location
             */
            userId: string;
            /** @description That of the user */
            tenantReference: string;
            /**
             * @description Who has to act next; nobody: all that is expected is online
             * @enum {string}
             */
            waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
            /** @description In one sentence */
            why: string;
            /**
             * Format: date-time
             * @description Since when; null if it is unknown
             */
            since: string | null;
            /**
             * Format: date-time
             * @description Until when this usually lasts; null if it is unknown, or if something is stalled
             */
            usuallyUntil: string | null;
            /** @description What a person has to do before the remedies, or without any */
            before: string | null;
            /** @description Operations that continue it; empty if there is none */
            remedies: components["schemas"]["RemedyView"][];
            /** @description The most urgent of what is stalled; null if all continues by itself */
            stalled: components["schemas"]["StalledView"] | null;
            /** @description What the newest invitation says */
            expected: components["schemas"]["CaseExpectedView"];
            /** @description What the sessions of the location say */
            online: components["schemas"]["CaseOnlineView"];
            /** @description What is expected and not online */
            missing: components["schemas"]["CaseMissingView"];
            /** @description The names of the brands in this response */
            brandNames: components["schemas"]["BrandNameView"][];
            /** @description The newest 50 at most, the newest first; superseded ones are the first to be left out */
            sessions: components["schemas"]["CaseSessionView"][];
            /** @description The newest 50 at most, the newest first; also those that failed */
            starts: components["schemas"]["StartView"][];
            /** @description The newest 50 at most, the newest first; without their links */
            invitations: components["schemas"]["CaseInvitationView"][];
        };
        CustomerView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "customer";
            /** @description That of the registration and the user */
            tenantReference: string;
            /**
             * @description Who has to act next; nobody: all that is expected is online
             * @enum {string}
             */
            waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
            /** @description In one sentence */
            why: string;
            /**
             * Format: date-time
             * @description Since when; null if it is unknown
             */
            since: string | null;
            /**
             * Format: date-time
             * @description Until when this usually lasts; null if it is unknown, or if something is stalled
             */
            usuallyUntil: string | null;
            /** @description What a person has to do before the remedies, or without any */
            before: string | null;
            /** @description Operations that continue it; empty if there is none */
            remedies: components["schemas"]["RemedyView"][];
            /** @description The most urgent of what is stalled; null if all continues by itself */
            stalled: components["schemas"]["StalledView"] | null;
            /**
             * Format: uuid
             * @description The campaign that has registered the customer; null if none has
             */
            campaignId: string | null;
            /** @description The live one, else the newest; null if none is stored */
            registration: components["schemas"]["RegistrationView"] | null;
            /** @description null until the remote service has registered the customer */
            user: components["schemas"]["UserView"] | null;
            /** @description One for each grid location, ordered by EAN */
            cases: components["schemas"]["CaseView"][];
        };
        CustomersView: {
            items: components["schemas"]["CustomerView"][];
        };
        ListedLocationView: {
            /**
             * Format: uuid
             * @description The remote id; null until the remote service has registered the customer
             */
            id: string | null;
            /** @description Always 18 digits */
            ean: string;
        };
        ListedCustomerView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "customer";
            /** @description That of the registration and the user */
            tenantReference: string;
            /**
             * Format: uuid
             * @description The live registration, else the newest; null if none is stored
             */
            registrationId: string | null;
            /**
             * Format: uuid
             * @description null until the remote service has registered the customer
             */
            userId: string | null;
            /** @description Ordered by EAN once the customer is registered */
            gridLocations: components["schemas"]["ListedLocationView"][];
            /**
             * @description Who has to act next; nobody: all that is expected is online
             * @enum {string}
             */
            waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
            /** @description In one sentence */
            why: string;
            /**
             * Format: date-time
             * @description Since when; null if it is unknown
             */
            since: string | null;
            /**
             * Format: date-time
             * @description Until when this usually lasts; null if it is unknown, or if something is stalled
             */
            usuallyUntil: string | null;
            /** @description What a person has to do before the remedies, or without any */
            before: string | null;
            /** @description Operations that continue it; empty if there is none */
            remedies: components["schemas"]["RemedyView"][];
            /** @description The most urgent of what is stalled; null if all continues by itself */
            stalled: components["schemas"]["StalledView"] | null;
            /**
             * Format: uuid
             * @description The campaign that has registered the customer; null if none has
             */
            campaignId: string | null;
            /** @description Those that the owners are asked to connect, and those of the newest sessions */
            brands: string[];
            /** @description The names of the brands in this response */
            brandNames: components["schemas"]["BrandNameView"][];
            /**
             * Format: date-time
             * @description When the registration was requested
             */
            createdAt: string;
        };
        SearchTerm: {
            /** @description What a person has typed or pasted */
            q: string;
        };
        HitView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "search_hit";
            /**
             * @description What it is: customer is a user, registration one without a user yet
             * @enum {string}
             */
            kind: "customer" | "registration" | "session" | "invitation" | "campaign";
            /**
             * Format: uuid
             * @description That of the user, registration, session, invitation or campaign
             */
            id: string;
            /** @description What a person knows it by: the reference, the label, the state or the name */
            label: string;
            /** @description That of the customer; null for a campaign */
            tenantReference: string | null;
        };
        SearchView: {
            /** @description By kind */
            items: components["schemas"]["HitView"][];
        };
        CampaignFormatView: {
            /** @enum {string} */
            type: "csv" | "ndjson";
            /** @enum {string} */
            encoding: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "cp850" | "macintosh";
            /** @description Whether the file begins with a byte order mark */
            bom: boolean;
            /**
             * @description null for NDJSON
             * @enum {string|null}
             */
            delimiter: "," | ";" | "\t" | "|" | null;
            /** @description As sent, in their order */
            columns: string[];
        };
        RowSummaryView: {
            /** @description To be registered, or sent already, whatever the result */
            new: number;
            /** @description Registered already with the same EANs, as far as that is known */
            known: number;
            /** @description Contradict what is registered already */
            conflicts: number;
            /** @description Have another problem */
            invalid: number;
            /** @description Repeat an earlier row of the file */
            duplicates: number;
        };
        RowCountsView: {
            accepted: number;
            invalid: number;
            registered: number;
            known: number;
            rejected: number;
            uncertain: number;
            cancelled: number;
        };
        BrandCountView: {
            brand: string;
            rows: number;
        };
        CampaignView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "campaign";
            /** Format: uuid */
            id: string;
            name: string | null;
            /** @enum {string} */
            status: "checked" | "running" | "paused" | "cancelled" | "finished";
            /** @description Whether the file was only checked; then `status` is `checked` */
            dryRun: boolean;
            /** @description Whether the owners of registered grid locations are invited */
            invite: boolean;
            /** @description Whether the rows exist at the remote service, and nobody is registered */
            adopt: boolean;
            /** @description What was detected in the file */
            format: components["schemas"]["CampaignFormatView"];
            /** @description Rows of the file, without its header */
            rows: number;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When every row had a result
             */
            finishedAt: string | null;
            /** @description The rows by the result of the check; each row is counted once */
            summary: components["schemas"]["RowSummaryView"];
            /** @description The number of rows in each status */
            counts: components["schemas"]["RowCountsView"];
            /** @description The number of rows with each problem, by its code; warnings too */
            problems: {
                [key: string]: number;
            };
            /** @description The rows of each brand in a dry run, the most frequent first, at most 50 brands; else empty */
            brands: components["schemas"]["BrandCountView"][];
            /** @description Rows that got a result per second, in the last seconds; null if not known, or no worker runs the campaign */
            perSecond: number | null;
            /** @description How long it will take, with the budget of the remote service and everything that goes first; null if not known */
            remainingSeconds: number | null;
        };
        CampaignSummaryView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "campaign";
            /** Format: uuid */
            id: string;
            name: string | null;
            /** @enum {string} */
            status: "checked" | "running" | "paused" | "cancelled" | "finished";
            /** @description Whether the file was only checked; then `status` is `checked` */
            dryRun: boolean;
            /** @description Whether the owners of registered grid locations are invited */
            invite: boolean;
            /** @description Whether the rows exist at the remote service, and nobody is registered */
            adopt: boolean;
            /** @description What was detected in the file */
            format: components["schemas"]["CampaignFormatView"];
            /** @description Rows of the file, without its header */
            rows: number;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When every row had a result
             */
            finishedAt: string | null;
        };
        RowProblemView: {
            /** @description The column as it is named in the file; null: the whole row */
            column: string | null;
            /** @enum {string} */
            code: "required" | "reference_invalid" | "reference_rounded" | "reference_normalised" | "reference_alike" | "reference_shared" | "reference_erased" | "owner_declined" | "ean_invalid" | "ean_length" | "ean_rounded" | "ean_perhaps_rounded" | "ean_check_digit" | "ean_elsewhere" | "ean_in_other_column" | "brand_invalid" | "brand_alike" | "locale_unknown" | "inverters_invalid" | "metadata_invalid" | "json_invalid" | "too_many_cells" | "cell_has_rows" | "row_too_long" | "duplicate_row" | "row_contradicts" | "too_many_eans" | "reference_conflict" | "other_row_invalid" | "registration_rejected" | "registration_discarded" | "registration_uncertain" | "adopt_invalid" | "adopt_contradicts" | "session_not_read";
            /** @description For the person with the spreadsheet */
            message: string;
        };
        CampaignRowView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "campaign_row";
            /** @description The line of the file on which the row begins, from 1 */
            line: number;
            /** @enum {string} */
            status: "accepted" | "invalid" | "registered" | "known" | "rejected" | "uncertain" | "cancelled";
            /** @description null if it is missing or faulty */
            tenantReference: string | null;
            /** @description null if it is missing or faulty */
            ean: string | null;
            /** @description What is wrong or, if the row is not `invalid`, doubtful */
            problems: components["schemas"]["RowProblemView"][];
            /**
             * Format: uuid
             * @description The registration that the row is part of
             */
            registrationId: string | null;
            /** Format: uuid */
            userId: string | null;
            /** @description The link for the owner; null without the scope `links:read`, or if there is none */
            invitationUrl: string | null;
        };
        NewApiKey: {
            /** @description The app that uses this key, for people */
            name: string;
            /** @description `admin` includes all others. A scope that writes does not include the one that reads. An app that registers users, starts sessions and waits for them needs `users:write`, `onboarding:write` and `onboarding:read`, and `links:read` to see each `startUrl` */
            scopes: ("users:read" | "users:write" | "users:erase" | "registrations:decide" | "onboarding:read" | "onboarding:write" | "invitations:write" | "links:read" | "events:read" | "webhooks:manage" | "remote:call" | "admin")[];
        };
        CreatedApiKeyView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "api_key";
            /** Format: uuid */
            id: string;
            name: string;
            scopes: ("users:read" | "users:write" | "users:erase" | "registrations:decide" | "onboarding:read" | "onboarding:write" | "invitations:write" | "links:read" | "events:read" | "webhooks:manage" | "remote:call" | "admin")[];
            /** @description The key. It is shown only once; only its hash is stored */
            key: string;
            /** Format: date-time */
            createdAt: string;
        };
        ApiKeyView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "api_key";
            /** Format: uuid */
            id: string;
            name: string;
            scopes: ("users:read" | "users:write" | "users:erase" | "registrations:decide" | "onboarding:read" | "onboarding:write" | "invitations:write" | "links:read" | "events:read" | "webhooks:manage" | "remote:call" | "admin")[];
            /** Format: date-time */
            createdAt: string;
            /** @description What created the key: `environment`, `cli`, `key:` followed by the id of a key, or one of these after `console:`; from the console also `console:oidc:` and a user */
            createdBy: string;
            /**
             * Format: date-time
             * @description Accurate to the minute
             */
            lastUsedAt: string | null;
            /** @description Requests that were refused with 401 because the key is revoked */
            refused401: number;
            /** @description Requests that were refused with 403 because the key lacks a scope */
            refused403: number;
            /** @description Requests that were refused with 429 */
            refused429: number;
            /**
             * Format: date-time
             * @description Accurate to the minute
             */
            lastRefusedAt: string | null;
            /**
             * Format: date-time
             * @description Every replica refuses the key within 5 seconds of this
             */
            revokedAt: string | null;
        };
        AuditEntryView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "audit_entry";
            /** @description Order of recording */
            id: number;
            /** Format: date-time */
            at: string;
            /** @description What did it, such as `key:` and the id of a key; after `console:`, a session of the console */
            actor: string;
            /** @description null if it was not a key of the list of keys */
            keyName: string | null;
            /** @description An object and a past participle, such as `registration.resolved` */
            action: string;
            /** @description Id of what it was done to */
            target: string | null;
            /** @description Without secrets or personal data */
            details: {
                [key: string]: unknown;
            };
        };
        StalledItemView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "stall";
            /**
             * Format: uuid
             * @description Id of what is stalled
             */
            id: string;
            /** @enum {string} */
            kind: "registration" | "start" | "session" | "invitation" | "inverter" | "endpoint";
            /** @description Why it does not continue by itself: a code of the catalogue */
            cause: string;
            /**
             * @description Who has to act next; us: who operates the service
             * @enum {string}
             */
            waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
            /**
             * @description now: every hour makes it worse. soon: within a day. later: a person may look.
             * @enum {string}
             */
            urgency: "now" | "soon" | "later";
            /**
             * Format: date-time
             * @description When the trouble began; it counts only after a threshold
             */
            since: string;
            /** @description What was found, and the threshold */
            evidence: {
                [key: string]: unknown;
            };
            /** @description The cause in one sentence */
            text: string;
            /** @description What a person has to do before the remedies, or without any */
            before: string | null;
            /** @description Operations that end it; empty if there is none */
            remedies: components["schemas"]["RemedyView"][];
            /**
             * Format: date-time
             * @description When it was announced
             */
            raisedAt: string;
            /** @description That of the customer, if there is one */
            tenantReference: string | null;
            /** Format: uuid */
            gridLocationId: string | null;
            brand: string | null;
            /**
             * Format: uuid
             * @description The campaign that brought the customer
             */
            campaignId: string | null;
            /** @description What a person has noted */
            note: string | null;
            /** @description Who works on it */
            assignee: string | null;
            /**
             * Format: date-time
             * @description Until when it is left, unless its evidence changes earlier
             */
            snoozedUntil: string | null;
        };
        StalledGroupView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "stall_group";
            /** @enum {string} */
            kind: "registration" | "start" | "session" | "invitation" | "inverter" | "endpoint";
            /** @description Why it does not continue by itself: a code of the catalogue */
            cause: string;
            /**
             * @description Who has to act next; us: who operates the service
             * @enum {string}
             */
            waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
            /**
             * @description now: every hour makes it worse. soon: within a day. later: a person may look.
             * @enum {string}
             */
            urgency: "now" | "soon" | "later";
            /** @description The cause in one sentence, without evidence */
            title: string;
            /** @description How many there are */
            count: number;
            /** @description How many of these began within the last 24 hours */
            new: number;
            /** @description The oldest of these, at most 10 */
            oldest: components["schemas"]["StalledItemView"][];
        };
        StalledGroupsView: {
            items: components["schemas"]["StalledGroupView"][];
        };
        StallChange: {
            /**
             * @description What the subject is
             * @enum {string}
             */
            kind: "registration" | "start" | "session" | "invitation" | "inverter" | "endpoint";
            /** @description For the next person */
            note?: string | null;
            /** @description The name of the person or the team that works on it */
            assignee?: string | null;
            /**
             * Format: date-time
             * @description Until when it is to be left: in the future, at most 366 days
             */
            snoozedUntil?: string | null;
        };
        DecisionCondition: {
            /**
             * Format: date-time
             * @description Refused if the registration has changed at or after this instant
             */
            unchangedSince?: string;
        };
        ConfirmedGridLocationInput: {
            /** @description The EAN of the grid connection: 18 digits, not beginning with 0. A bare JSON number is also accepted, but clients whose numbers are doubles round it */
            ean: string;
            /** Format: uuid */
            id: string;
        };
        ConfirmedUserInput: {
            /** Format: uuid */
            id: string;
            /** @description The tenantReference of the registration */
            tenantReference: string;
            /** @description With every EAN of the registration */
            gridLocations: components["schemas"]["ConfirmedGridLocationInput"][];
            tenantName?: string;
            firstName?: string;
            lastName?: string;
            email?: string;
            /** @description As in `POST /users`; not part of the user object */
            eanConfirmed?: boolean;
            /**
             * Format: date-time
             * @description In the years 1 to 9999
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description In the years 1 to 9999
             */
            updatedAt?: string;
        };
        DecisionFilter: {
            /** @enum {string} */
            status: "pending" | "uncertain" | "rejected";
            /**
             * Format: date-time
             * @description Only registrations created at or after this instant
             */
            createdSince?: string;
            /**
             * Format: date-time
             * @description Only registrations created before this instant
             */
            createdBefore?: string;
            /** @description Only registrations whose `lastError` contains this text */
            lastError?: string;
        };
        BulkDecision: {
            /** @enum {string} */
            decision: "retry" | "discard";
            /** @description The registrations. Give either these or `filter` */
            ids?: string[];
            /** @description Decides about all registrations that `GET /registrations` lists with these filters, at most 1000 per call */
            filter?: components["schemas"]["DecisionFilter"];
            /** @description The `next` of the previous page. Default: the first page */
            cursor?: string;
            /**
             * Format: date-time
             * @description Leaves registrations as they are that have changed at or after this instant, such as one that was sent again since. Makes a repetition of the request harmless
             */
            unchangedSince?: string;
        };
        DecisionResultView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "registration_decision";
            /** Format: uuid */
            id: string;
            /** @description Whether the decision holds: it was applied now, or to discard, before */
            ok: boolean;
            /** @description If not: the code of the problem, `not_found` or `registration_conflict` */
            code: string | null;
            /** @description If not: why, for people */
            detail: string | null;
        };
        DecisionsView: {
            /** @description One for each registration */
            items: components["schemas"]["DecisionResultView"][];
            /** @description With `filter`: the `cursor` of the next call; null if no more registrations match */
            next: string | null;
        };
        NewBulkAction: {
            /** @description An operation of this API that has `x-bulk` in openapi.json */
            operationId: string;
            /** @description What the parameter in the path of the operation is to be, one after the other */
            ids: string[];
            /** @description The body of the operation, the same for each id. No personal data. Default: no body */
            arguments?: {
                [key: string]: unknown;
            };
            /** @description Why, for the audit log. No personal data */
            reason: string;
        };
        BulkCountsView: {
            pending: number;
            done: number;
            skipped: number;
            failed: number;
        };
        BulkItemView: {
            /** Format: uuid */
            id: string;
            /**
             * @description skipped: it does not exist, or has changed so that the operation does not apply
             * @enum {string}
             */
            status: "pending" | "done" | "skipped" | "failed";
            /** @description That of the problem; null if there was none */
            code: string | null;
            /** @description What is wrong, in our words */
            detail: string | null;
            /** Format: date-time */
            doneAt: string | null;
        };
        BulkActionView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "bulk_action";
            /**
             * Format: uuid
             * @description The requests of the action have the id `bulk-` and this, also in the audit log
             */
            id: string;
            operationId: string;
            /** @description As given; empty without a body, and after the erasure of a person on whom it acted */
            arguments: {
                [key: string]: unknown;
            };
            /** @description As given; `erased` after the erasure of a person on whom it acted */
            reason: string;
            /** @description As `actor` in the audit log */
            createdBy: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description null while ids are pending
             */
            finishedAt: string | null;
            counts: components["schemas"]["BulkCountsView"];
            /** @description In the order of the request */
            items: components["schemas"]["BulkItemView"][];
        };
        ReasonRemedyView: {
            /** @description The operation of this API */
            operationId: string;
            method: string;
            path: string;
            /** @description What it does, in a few words */
            label: string;
        };
        StatusReasonView: {
            /** @enum {string} */
            code: "disk_full" | "writes_fail" | "tables_locked" | "no_api" | "requests_fail" | "no_worker" | "replicas_vanish" | "remote_services_differ" | "credentials_rejected" | "proxy_fails" | "remote_degraded" | "nothing_read" | "events_unsequenced" | "inverters_shared" | "connections_used_up" | "transaction_old" | "requests_refused" | "certificates_expire" | "clocks_differ" | "releases_differ" | "remote_slow" | "brand_unreachable" | "held_back_by_remote_service" | "held_back_by_breaker" | "held_back_by_ceiling" | "contract_drifted" | "budget_short" | "reads_stale" | "sessions_overdue" | "nothing_changes" | "starts_fell" | "reader_behind" | "handlers_failing" | "broker_failing" | "webhooks_failing" | "webhooks_disabled" | "starts_abandoned" | "starts_lost" | "registrations_uncertain" | "sessions_doubtful" | "brand_unnamed" | "privacy_unlinked";
            /**
             * @description `critical`: a person has to act at night, too
             * @enum {string}
             */
            severity: "critical" | "warning";
            /** @description A sentence without its full stop */
            title: string;
            /**
             * @description Who has to act next: `us`, the operator of this service; `tenant`, its apps and people
             * @enum {string}
             */
            waitsFor: "us" | "tenant" | "remote_service";
            /** @description What to do: a section of the documents in the repository */
            runbook: string;
            /** @description The operations that can end it; empty if none can */
            remedies: components["schemas"]["ReasonRemedyView"][];
            /** @description For people */
            detail: string;
            /**
             * @description The present reason from which this one probably follows; null if from none
             * @enum {string|null}
             */
            followsFrom: "disk_full" | "writes_fail" | "tables_locked" | "no_api" | "requests_fail" | "no_worker" | "replicas_vanish" | "remote_services_differ" | "credentials_rejected" | "proxy_fails" | "remote_degraded" | "nothing_read" | "events_unsequenced" | "inverters_shared" | "connections_used_up" | "transaction_old" | "requests_refused" | "certificates_expire" | "clocks_differ" | "releases_differ" | "remote_slow" | "brand_unreachable" | "held_back_by_remote_service" | "held_back_by_breaker" | "held_back_by_ceiling" | "contract_drifted" | "budget_short" | "reads_stale" | "sessions_overdue" | "nothing_changes" | "starts_fell" | "reader_behind" | "handlers_failing" | "broker_failing" | "webhooks_failing" | "webhooks_disabled" | "starts_abandoned" | "starts_lost" | "registrations_uncertain" | "sessions_doubtful" | "brand_unnamed" | "privacy_unlinked" | null;
            /**
             * Format: date-time
             * @description Since when the samples of the status have had this reason, one a minute, or since when its cause is known to last, if that is earlier; null if neither is known yet. An absence of at most 5 minutes does not count
             */
            since: string | null;
        };
        BuildView: {
            version: string;
            /** @description null if it is unknown */
            commit: string | null;
            /** @description The newest migration that it has */
            newestMigration: string | null;
        };
        CertificatesView: {
            /** @description The setting that names the file */
            name: string;
            /** @description When the first certificate in it expires that is needed */
            expiresAt: string;
            /** @description Whether that is within 30 days or, if that is shorter, a third of its lifetime */
            isExpiring: boolean;
            /** @description Why the renewed file is not used; null if the file is in use as it is */
            fault: string | null;
        };
        LatestCallsView: {
            /** @enum {string} */
            operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
            calls: number;
            /** @description Calls among these that took over 2 seconds */
            slow: number;
        };
        ReplicaView: {
            /** @description Host and process id, as in its log lines */
            name: string;
            /** @enum {string} */
            role: "api" | "worker" | "all";
            /** @description Whether it showed a sign of life in the last 5 seconds */
            isAlive: boolean;
            /** Format: date-time */
            startedAt: string;
            /**
             * Format: date-time
             * @description Its last sign of life
             */
            lastSeenAt: string;
            /** @description Successful reads of sessions, in the last 10 seconds */
            readsPerSecond: number;
            /**
             * Format: date-time
             * @description Since when its calls have waited for SCS_MAX_REQUESTS_PER_SECOND; null if none waits
             */
            pacedSince: string | null;
            /**
             * Format: date-time
             * @description When it stopped in order; null if it runs or has vanished
             */
            stoppedAt: string | null;
            /** @description By how much its clock is ahead of that of the database, at its last sign of life */
            clockOffsetSeconds: number;
            version: string;
            /** @description null if it is unknown */
            commit: string | null;
            /** @description The newest migration that its release has */
            newestMigration: string | null;
            /** @description Its SCS_BASE_URL; null if its release does not tell it */
            remoteService: string | null;
            /** @description The operations of the remote service that took over 2 seconds in most of its latest calls */
            slow: ("token" | "register_user" | "start_session" | "read_session" | "pass_through")[];
            /** @description Requests to our API in its last minute */
            requests: number;
            /** @description Requests among these that failed by a fault of ours */
            failedRequests: number;
            /** @description Requests among these that were refused with a 4xx */
            refusedRequests: number;
            /** @description How long its statements have waited for connections to the database; 0 if none waits */
            waitingForConnectionsSeconds: number;
            /** @description What has had a connection longest, while statements wait for one */
            longestStatement: string | null;
            /** @description Whether a statement failed lately because the database has no space left */
            hasNoSpace: boolean;
            /** @description Why the outbound proxy opens no connections to the remote service; null if it does, or if there is none */
            proxyFault: string | null;
            /** @description The files with certificates that it uses */
            certificates: components["schemas"]["CertificatesView"][];
            /** @description Its latest successful calls of the remote service, at most 20 of each operation and of 5 minutes */
            latestCalls: components["schemas"]["LatestCallsView"][];
        };
        LimitView: {
            /** @description Calls that may be in flight at once now. Falls when the service refuses or times out; does not grow while fewer calls are in flight, so it stays low under our own pacing */
            current: number;
            /** @description SCS_MAX_CONCURRENCY */
            ceiling: number;
        };
        RateView: {
            /** @description SCS_MAX_REQUESTS_PER_SECOND, of the whole deployment */
            ceilingPerSecond: number;
            /** @description Whether calls wait for it now */
            isHoldingBack: boolean;
        };
        QueueView: {
            /** @description Calls that a caller waits for */
            foreground: number;
            background: number;
        };
        OperationView: {
            /**
             * @description `unavailable` while calls are blocked
             * @enum {string}
             */
            health: "unknown" | "healthy" | "degraded" | "unavailable";
            /** @enum {string} */
            breaker: "closed" | "open" | "half_open";
            /**
             * @description `remote_service`: it asked to wait (Retry-After). `breaker`: it fails. `ceiling`: calls wait for our SCS_MAX_REQUESTS_PER_SECOND
             * @enum {string|null}
             */
            heldBackBy: "remote_service" | "breaker" | "ceiling" | null;
            /** @description How long calls remain blocked; null if they are not */
            retryAfterMs: number | null;
            /** @description The wait that the remote service asked for; null if none lasts */
            requestedWaitMs: number | null;
            /** Format: date-time */
            lastSuccessAt: string | null;
            /** Format: date-time */
            lastErrorAt: string | null;
            lastError: string | null;
        };
        OperationsView: {
            token: components["schemas"]["OperationView"];
            register_user: components["schemas"]["OperationView"];
            start_session: components["schemas"]["OperationView"];
            read_session: components["schemas"]["OperationView"];
            pass_through: components["schemas"]["OperationView"];
        };
        DegradedOperationView: {
            /** @enum {string} */
            operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
            /** @enum {string} */
            health: "degraded" | "credentials_rejected";
            /** Format: date-time */
            since: string;
            reason: string;
        };
        RecentCallsView: {
            /** @enum {string} */
            operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
            /** @description Calls with a response that shows that the operation is served: a JSON object, whatever its fields, or a 4xx about the request itself such as 404 */
            succeeded: number;
            /** @description All other calls: without such a response, with a 5xx, 401 or 403, or limited */
            failed: number;
            /** @description Median duration of the successful calls, within 5 %; null if there are none */
            p50Seconds: number | null;
            /** @description 95th percentile of the duration of the successful calls, within 5 %; null if there are none */
            p95Seconds: number | null;
        };
        DeploymentView: {
            /** @description Announced by an event when it begins */
            degraded: components["schemas"]["DegradedOperationView"][];
            /** @description The calls of all live replicas in the last 5 minutes */
            calls: components["schemas"]["RecentCallsView"][];
            /** @description The number of ways in which its responses differ from the interface description (admin.contract_drift) */
            contractDrift: number;
            /** @description The ways among these that were first seen within the last hour */
            newDrift: number;
        };
        RemoteView: {
            /**
             * @description The worst health of its operations; `unavailable` while it refuses the credentials (`token.state` is `rejected`)
             * @enum {string}
             */
            health: "unknown" | "healthy" | "degraded" | "unavailable";
            limit: components["schemas"]["LimitView"];
            /** @description null without SCS_MAX_REQUESTS_PER_SECOND */
            rate: components["schemas"]["RateView"] | null;
            inFlight: number;
            /** @description Calls that wait for their turn */
            queued: components["schemas"]["QueueView"];
            /** @description Each operation has its own circuit breaker */
            operations: components["schemas"]["OperationsView"];
            /** @description The state shared by all replicas */
            deployment: components["schemas"]["DeploymentView"];
        };
        TokenView: {
            /** @enum {string} */
            state: "none" | "valid" | "expired" | "on_trial" | "rejected";
            /** @description Counts the tokens obtained */
            generation: number;
            ageSeconds: number | null;
            /** Format: date-time */
            obtainedAt: string | null;
            /** Format: date-time */
            renewAt: string | null;
            /** Format: date-time */
            expiresAt: string | null;
            /** @description `expires_in` as received from the service */
            expiresInRaw: string | null;
            tokenType: string | null;
            /** Format: date-time */
            rejectedAt: string | null;
            failures: number;
            lastError: string | null;
            /** Format: date-time */
            nextAttemptAt: string | null;
        };
        PollerPhaseView: {
            /** @enum {string} */
            phase: "awaiting_owner" | "awaiting_installation" | "settling" | "late" | "unrecognised";
            /** @description Age of the last successful read of the session that was read longest ago, of those that are due, being read, or planned again after a failure; 0 if there is none */
            oldestReadSeconds: number;
            /** @description Median age of the last successful read */
            medianReadSeconds: number;
        };
        PollerView: {
            /** @description Watched sessions */
            watched: number;
            /** @description Sessions that are due and not claimed */
            overdue: number;
            /** @description By how much the most overdue one is late; 0 if none is */
            oldestOverdueSeconds: number;
            /** @description Sessions that workers have claimed now */
            reading: number;
            batches: number;
            /** @description Successful reads of all live replicas, in the last 10 seconds */
            readsPerSecond: number;
            /** @description Age of the newest successful read; null if none is known. Of the same sample as `phases` */
            newestReadSeconds: number | null;
            /** @description For how long the session that waits longest has been due, claimed or failing; 0 if none waits. Of the same sample */
            longestWaitSeconds: number;
            /** @description Of a random sample if there are more than some 50,000 watched sessions */
            phases: components["schemas"]["PollerPhaseView"][];
            /** @description Batches whose lease has expired; another worker takes them over */
            abandonedBatches: number;
        };
        LatePhaseView: {
            /** @enum {string} */
            phase: "awaiting_owner" | "awaiting_installation" | "settling" | "late" | "unrecognised";
            /** @description Sessions that are due and not claimed */
            overdue: number;
            /** @description By how much the most overdue session is late */
            oldestOverdueSeconds: number;
        };
        NoticedView: {
            /** @description Changes that are counted, at most 2,000 */
            changes: number;
            /** @description Median; null without changes */
            p50Seconds: number | null;
            /** @description 95th percentile; null without changes */
            p95Seconds: number | null;
        };
        BudgetView: {
            /** @description By how much all intervals are longer than planned; 1 while there is room */
            stretch: number;
            /** @description POLL_MAX_INTERVAL_MS times the stretch */
            maxIntervalSeconds: number;
            /** @description The highest `maxIntervalSeconds` of the last 4 hours, by which sessions may still be planned */
            recentMaxIntervalSeconds: number;
            /** @description Reads per second at stretch 1 */
            wantedPerSecond: number;
            /** @description Reads per second at this stretch; null if nothing limits them */
            allowedPerSecond: number | null;
            /** @description Whether `remote.budget_short` was announced and its end was not */
            isShort: boolean;
            /** @description By phase; phases without overdue sessions are absent. Empty if `poller` is null */
            late: components["schemas"]["LatePhaseView"][];
            /** @description How long after a change of a session in its first 10 minutes it was noticed, by the clock of the remote service, over the last hour */
            noticed: components["schemas"]["NoticedView"];
        };
        ActivityView: {
            /**
             * Format: date-time
             * @description When a session last changed to awaiting_installation or online
             */
            lastChangeAt: string | null;
            /** @description Age of the oldest of these, in seconds; 0 if there is none */
            unchangedSeconds: number;
            /** @description The least number of such changes within `unchangedSeconds` at the same hours of the last 7 days, at most 1,000; null if it is under 15 minutes, or there are less than 3 days */
            usualChanges: number | null;
            /** @description Sessions that were started within the last hour, at most 1,000 */
            startsPerHour: number;
            /** @description The least number of these at the same hour of the last 7 days; null if there are less than 3 days */
            usualStartsPerHour: number | null;
        };
        OldestTransactionView: {
            /** @description Its age */
            seconds: number;
            /** @description Whose it is, for people */
            process: string;
        };
        HandlersView: {
            /** @description Deliveries of events that in-process handlers have not completed yet */
            undelivered: number;
            /** @description Deliveries among these that have failed at least once */
            failing: number;
            /** @description Age of the oldest delivery that has failed at least once, in seconds; 0 if there is none */
            oldestFailingSeconds: number;
            /** @description Age of the oldest of these, in seconds; 0 if there is none */
            oldestUndeliveredSeconds: number;
        };
        WebhooksView: {
            /** @description Enabled endpoints */
            endpoints: number;
            /** @description Those stalled as `failing`: all attempts have failed for 15 minutes */
            failingEndpoints: number;
            /** @description How long the first of these has been failing, in seconds; 0 if none fails */
            oldestFailingSeconds: number;
            /** @description Those stalled as `gone` or `disabled_after_failures`: they were disabled automatically */
            disabledEndpoints: number;
            /** @description Events not yet offered to the enabled endpoint that is furthest behind, subscribed or not. A worker offers them within a second */
            unread: number;
            /** @description Deliveries to enabled endpoints that wait for their first attempt or a retry */
            undelivered: number;
            /** @description Deliveries among these that have failed at least once */
            failing: number;
            /** @description Age of the oldest event that is unread or undelivered, in seconds; 0 if nothing waits */
            oldestUndeliveredSeconds: number;
        };
        StreamsView: {
            /** @description Streams open at the responding replica */
            open: number;
        };
        BrokerView: {
            /** @enum {string} */
            kind: "nats";
            /** @description Whether a process has the lease for publishing now */
            isPublishing: boolean;
            /** @description Events that the broker has not confirmed yet */
            unpublished: number;
            /** @description Age of the oldest of these, in seconds; 0 if there is none */
            oldestUnpublishedSeconds: number;
            /**
             * Format: date-time
             * @description When the broker last confirmed an event
             */
            publishedAt: string | null;
            /**
             * Format: date-time
             * @description Since when the broker has accepted no event; null while it accepts them
             */
            failingSince: string | null;
            /** @description For how long it has accepted none; 0 while it accepts them */
            failingSeconds: number;
            lastError: string | null;
            /** @description Settings of the broker by which it may lose events, as of the last connection to it; empty if there are none */
            warnings: string[];
        };
        ReadersView: {
            /** @description In-process handlers */
            handlers: components["schemas"]["HandlersView"];
            webhooks: components["schemas"]["WebhooksView"];
            /** @description Each reader of a stream stores its own place, so streams have no backlog */
            streams: components["schemas"]["StreamsView"];
            /** @description null if there is no broker */
            broker: components["schemas"]["BrokerView"] | null;
        };
        OutboxView: {
            /** @description Events that have no sequence number yet */
            unsequenced: number;
            /** @description Age of the oldest of these, in seconds; 0 if there is none */
            oldestUnsequencedSeconds: number;
            /** @description Each reader has its own place, so none waits for another. The feed stores no place; its readers do */
            readers: components["schemas"]["ReadersView"];
        };
        StalledCauseView: {
            /** @description As in `GET /stalled` */
            cause: string;
            /** @description Sessions that are stalled for this cause */
            sessions: number;
        };
        OpenSessionsView: {
            /** @description Those stalled as `unrecognised` or `too_many_inverters` */
            unrecognised: number;
            /** @description Those stalled as `lost` and still read */
            lost: number;
            /** @description Those stalled as `all_inverters_missing` */
            allInvertersMissing: number;
            /** @description Those stalled as `some_inverters_missing` */
            someInvertersMissing: number;
            /** @description Inverters that are stalled, as five or more customers list them at once */
            sharedInverters: number;
            /** @description Those that are stalled, by cause */
            stalled: components["schemas"]["StalledCauseView"][];
        };
        BrandOutageView: {
            brand: string;
            /** @description How many of its newest sessions have failed three times in a row, or once while reads are held back */
            failing: number;
            /** @description How many of these were read at their usual interval */
            read: number;
            /** @description For how long enough have failed */
            seconds: number;
        };
        OpenRegistrationsView: {
            /** @description Registrations that are sent again automatically */
            pending: number;
            /** @description Age of the oldest of these, in seconds; 0 if there is none */
            oldestPendingSeconds: number;
            /** @description Those stalled as `uncertain`: a person has to decide */
            uncertain: number;
            /** @description Age of the oldest of these, in seconds; 0 if there is none */
            oldestUncertainSeconds: number;
            /** @description Whether a backup was restored and the references that were registered after it are unchecked: until then each new one becomes `uncertain`, and campaigns register none */
            areUnchecked: boolean;
            /** @description Registrations that the remote service rejected in the last 24 hours, counted up to 10,000 */
            rejected: number;
        };
        StartsView: {
            /** @description Starts whose lease has expired before their outcome was stored; a worker marks them as failed */
            abandoned: number;
            /** @description How long ago the first lease of these expired, in seconds; 0 if there is none */
            oldestAbandonedSeconds: number;
            /** @description Sessions that the remote service may have started in the last 24 hours and whose id nobody knows; they expire there */
            orphans: number;
            /** @description Those among these of the last hour */
            newOrphans: number;
        };
        StatusView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "status";
            /**
             * @description `degraded` if there are `reasons`
             * @enum {string}
             */
            health: "healthy" | "degraded";
            /** @description What is wrong, the worst first; empty while all is well */
            reasons: components["schemas"]["StatusReasonView"][];
            /** @description What the responding replica runs */
            build: components["schemas"]["BuildView"];
            /** @description The running processes, and those that stopped or vanished within the last hour */
            replicas: components["schemas"]["ReplicaView"][];
            /** @description Who locks our tables in the database against writing; empty if nobody does */
            tableLocks: string[];
            /** @description Whether a statement of the responding replica failed in the last 15 seconds because the database has no space left */
            hasNoSpace: boolean;
            /** @description Why the responding replica has written no sign of life in the last 5 seconds; null if it has */
            writesFault: string | null;
            /** @description The remote service as the responding replica sees it */
            remote: components["schemas"]["RemoteView"];
            /** @description The access token of the whole deployment, without its value */
            token: components["schemas"]["TokenView"];
            /** @description null while the table of the schedule is locked: see `tableLocks` */
            poller: components["schemas"]["PollerView"] | null;
            /** @description The reads that the whole deployment wants and may do; see `remote.budget_short` */
            budget: components["schemas"]["BudgetView"];
            /** @description What happens, compared with the same hours of the last 7 days */
            activity: components["schemas"]["ActivityView"];
            /** @description The oldest open transaction of the database that the service may see; a pg_dump only after 6 hours */
            oldestTransaction: components["schemas"]["OldestTransactionView"] | null;
            outbox: components["schemas"]["OutboxView"];
            /** @description Open sessions that may need a person; `GET /stalled` lists them */
            sessions: components["schemas"]["OpenSessionsView"];
            /** @description Brands of which most of the newest sessions cannot be read now, while those of others are: no owner begins with them */
            brandOutages: components["schemas"]["BrandOutageView"][];
            registrations: components["schemas"]["OpenRegistrationsView"];
            starts: components["schemas"]["StartsView"];
        };
        PastReasonView: {
            /** @enum {string} */
            code: "database_unavailable" | "disk_full" | "writes_fail" | "tables_locked" | "no_api" | "requests_fail" | "no_worker" | "replicas_vanish" | "remote_services_differ" | "credentials_rejected" | "proxy_fails" | "remote_degraded" | "nothing_read" | "events_unsequenced" | "inverters_shared" | "connections_used_up" | "transaction_old" | "requests_refused" | "certificates_expire" | "clocks_differ" | "releases_differ" | "remote_slow" | "brand_unreachable" | "held_back_by_remote_service" | "held_back_by_breaker" | "held_back_by_ceiling" | "contract_drifted" | "budget_short" | "reads_stale" | "sessions_overdue" | "nothing_changes" | "starts_fell" | "reader_behind" | "handlers_failing" | "broker_failing" | "webhooks_failing" | "webhooks_disabled" | "starts_abandoned" | "starts_lost" | "registrations_uncertain" | "sessions_doubtful" | "brand_unnamed" | "privacy_unlinked";
            /**
             * @description `critical`: a person has to act at night, too
             * @enum {string}
             */
            severity: "critical" | "warning";
            /** @description A sentence without its full stop */
            title: string;
            /**
             * @description Who has to act next: `us`, the operator of this service; `tenant`, its apps and people
             * @enum {string}
             */
            waitsFor: "us" | "tenant" | "remote_service";
            /** @description What to do: a section of the documents in the repository */
            runbook: string;
            /** @description The operations that can end it; empty if none can */
            remedies: components["schemas"]["ReasonRemedyView"][];
        };
        LastedView: {
            /** @enum {string} */
            code: "database_unavailable" | "disk_full" | "writes_fail" | "tables_locked" | "no_api" | "requests_fail" | "no_worker" | "replicas_vanish" | "remote_services_differ" | "credentials_rejected" | "proxy_fails" | "remote_degraded" | "nothing_read" | "events_unsequenced" | "inverters_shared" | "connections_used_up" | "transaction_old" | "requests_refused" | "certificates_expire" | "clocks_differ" | "releases_differ" | "remote_slow" | "brand_unreachable" | "held_back_by_remote_service" | "held_back_by_breaker" | "held_back_by_ceiling" | "contract_drifted" | "budget_short" | "reads_stale" | "sessions_overdue" | "nothing_changes" | "starts_fell" | "reader_behind" | "handlers_failing" | "broker_failing" | "webhooks_failing" | "webhooks_disabled" | "starts_abandoned" | "starts_lost" | "registrations_uncertain" | "sessions_doubtful" | "brand_unnamed" | "privacy_unlinked";
            /** @description For how long the reason was present in the step: a minute for each sample that has it */
            seconds: number;
            /**
             * Format: date-time
             * @description The end of the last minute of the step that has it
             */
            until: string;
        };
        OperationPointView: {
            /** @enum {string} */
            operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
            /** @description Calls, failed ones too */
            calls: number | null;
            /** @description Share of the calls that `succeeded` as in the status, 0 to 1; null without calls */
            successShare: number | null;
            /** @description 95th percentile of the duration of successful calls */
            p95Seconds: number | null;
        };
        StatusPointView: {
            /**
             * Format: date-time
             * @description The beginning of the step
             */
            at: string;
            /** @description All reasons of the step, the worst first. `database_unavailable`: the status could not be read */
            reasons: ("database_unavailable" | "disk_full" | "writes_fail" | "tables_locked" | "no_api" | "requests_fail" | "no_worker" | "replicas_vanish" | "remote_services_differ" | "credentials_rejected" | "proxy_fails" | "remote_degraded" | "nothing_read" | "events_unsequenced" | "inverters_shared" | "connections_used_up" | "transaction_old" | "requests_refused" | "certificates_expire" | "clocks_differ" | "releases_differ" | "remote_slow" | "brand_unreachable" | "held_back_by_remote_service" | "held_back_by_breaker" | "held_back_by_ceiling" | "contract_drifted" | "budget_short" | "reads_stale" | "sessions_overdue" | "nothing_changes" | "starts_fell" | "reader_behind" | "handlers_failing" | "broker_failing" | "webhooks_failing" | "webhooks_disabled" | "starts_abandoned" | "starts_lost" | "registrations_uncertain" | "sessions_doubtful" | "brand_unnamed" | "privacy_unlinked")[];
            /** @description The same reasons, and how long each was present */
            lasted: components["schemas"]["LastedView"][];
            /** @description Successful reads of sessions */
            readsPerSecond: number | null;
            /** @description Reads per second at stretch 1 */
            wantedPerSecond: number | null;
            /** @description Reads per second at this stretch; null if nothing limits them */
            allowedPerSecond: number | null;
            /** @description By how much all intervals are longer than planned */
            stretch: number | null;
            /** @description POLL_MAX_INTERVAL_MS times the stretch */
            maxIntervalSeconds: number | null;
            /** @description Sessions that are due and not claimed */
            overdue: number | null;
            /** @description By how much the most overdue session is late */
            latenessSeconds: number | null;
            /** @description Age of the last successful read of the session that was read longest ago, of those that are due */
            oldestReadSeconds: number | null;
            /** @description Stalled sessions of all causes */
            stalled: number | null;
            /** @description Registrations on which a person has to decide */
            uncertain: number | null;
            /** @description Registrations that are sent again */
            pending: number | null;
            /** @description Sessions that were started */
            startsPerHour: number | null;
            /** @description Age of the oldest event that in-process handlers have not completed */
            handlersLagSeconds: number | null;
            /** @description Age of the oldest event that an enabled endpoint has not received */
            webhooksLagSeconds: number | null;
            /** @description Age of the oldest event that the broker has not confirmed; null if there is no broker */
            brokerLagSeconds: number | null;
            /** @description Webhook endpoints whose attempts all fail */
            failingEndpoints: number | null;
            /** @description Age of the oldest open transaction of the database; 0 if there is none */
            oldestTransactionSeconds: number | null;
            /** @description Live processes */
            liveReplicas: number | null;
            /** @description The calls of all processes in the 5 minutes before */
            operations: components["schemas"]["OperationPointView"][];
        };
        StatusHistoryView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "status_history";
            /** @description The length of a step */
            stepSeconds: number;
            /** @description What the reasons of the points mean, the worst first */
            reasons: components["schemas"]["PastReasonView"][];
            /** @description The steps, the oldest first, without those in which no process ran. A figure is the worst of its step, or the mean if it is a rate */
            points: components["schemas"]["StatusPointView"][];
        };
        CredentialsProbeView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "credentials_probe";
            /**
             * @description `valid`: the token is in order, nothing was sent. `token_issued`: the remote service issued a token; if it had refused calls, the next call tests it, and `token.state` shows the result. `refused`: it refused the token request; it does not say whether for the API key or for the client. `no_token`: no usable response. `too_soon`: another token request runs, or the last probe was less than 5 seconds ago; nothing was sent
             * @enum {string}
             */
            outcome: "valid" | "token_issued" | "refused" | "no_token" | "too_soon";
            /** @description The last failure of the token, redacted; null if nothing has failed since the last success */
            lastError: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is due if nobody probes; null if none waits
             */
            nextAttemptAt: string | null;
        };
        ErasedCountsView: {
            /** @description Grid locations whose EAN was erased */
            gridLocations: number;
            /** @description Registrations of this tenantReference, in any status */
            registrations: number;
            /** @description Sessions whose metadata and startUrl were erased; the history of their states stays */
            sessions: number;
            /** @description Stored responses of the remote service */
            observations: number;
            /** @description Inverters, counted once per session that listed them */
            inverters: number;
            /** @description Consents of the owner */
            consents: number;
            /** @description Events whose tenantReference, metadata and inverter ids were erased */
            events: number;
        };
        RemoteErasureView: {
            /** @enum {boolean} */
            erased: false;
            /** @description The remaining steps, for people */
            detail: string;
        };
        ErasureReceiptView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "erasure_receipt";
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description null if there were only registrations that had not become a user
             */
            userId: string | null;
            /** Format: date-time */
            erasedAt: string;
            erased: components["schemas"]["ErasedCountsView"];
            /** @description The Solar Curtailment Service, which has no call that erases a user */
            remote: components["schemas"]["RemoteErasureView"];
        };
        UserExportView: {
            /**
             * @description The kind of resource
             * @enum {string}
             */
            object: "user_export";
            /** Format: uuid */
            userId: string;
            /** Format: date-time */
            exportedAt: string;
            /** @description The rows of each table, with all their columns but hashes and encrypted ones: `sessionStarts`, `onboardingSessions`, `prunedSessions`, `sessionPolls`, `sessionObservations`, `inverters`, `invitations`, `consents`, `campaignRows`, `registrations`, `users`, `gridLocations`, `stalls`, `domainEvents`, `webhookDeliveries`, `auditLog`, `bulkActions`, `idempotencyKeys`. Further tables and columns may follow */
            data: {
                [key: string]: Record<string, unknown>[];
            };
        };
        FieldErrorView: {
            /** @description A path in the body such as `gridLocations[0].ean`, or the name of a parameter */
            field: string;
            /** @description What the value must be */
            message: string;
        };
        ProblemView: {
            /**
             * Format: uri-reference
             * @description Address of the explanation of `code`; an absolute URL if `PUBLIC_URL` is set
             */
            type: string;
            title: string;
            status: number;
            /** @description What happened this time, for people */
            detail: string;
            /**
             * @description The kind of problem. Does not change: handle problems by this
             * @enum {string}
             */
            code: "invalid_request" | "invalid_json" | "ean_rounded" | "campaign_empty" | "campaign_columns" | "campaign_unreadable" | "campaign_rounded" | "unauthenticated" | "forbidden" | "not_from_console" | "not_found" | "method_not_allowed" | "request_timeout" | "tenant_reference_conflict" | "registration_conflict" | "campaign_conflict" | "invitation_conflict" | "stall_over" | "session_closed" | "webhook_endpoint_limit" | "body_too_large" | "unsupported_media_type" | "remote_rejected" | "idempotency_key_reused" | "too_many_requests" | "headers_too_large" | "internal_error" | "remote_credentials_rejected" | "remote_response_lost" | "replica_busy" | "remote_unavailable" | "database_unavailable";
            /**
             * Format: uuid
             * @description The registration that the problem is about
             */
            registrationId?: string;
            /**
             * Format: uuid
             * @description The user that the problem is about
             */
            userId?: string;
            /**
             * Format: uuid
             * @description The session that the problem is about
             */
            sessionId?: string;
            /** @description The invalid parts of the request */
            errors?: components["schemas"]["FieldErrorView"][];
            /** @description The X-Request-Id of this response */
            requestId: string;
        };
        /**
         * pv.user.registered.v1
         * @description When the remote service confirmed a user
         */
        "pv.user.registered.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.user.registered.v1";
            /** @description The user; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the registration, which is now `registered`
                 */
                registrationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed in the request; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Ids of its grid locations, here and at the remote service */
                gridLocationIds: string[];
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.user.registration_pending.v1
         * @description When a registration waits to be sent: the remote service could not take it now, or a person decided to send it again
         */
        "pv.user.registration_pending.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.user.registration_pending.v1";
            /** @description The registration; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the registration
                 */
                registrationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed in the request; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Why, without secrets and without the words of the remote service */
                reason: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.user.registration_rejected.v1
         * @description When the remote service refused a registration; it had no effect there
         */
        "pv.user.registration_rejected.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.user.registration_rejected.v1";
            /** @description The registration; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the registration
                 */
                registrationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed in the request; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Why, without secrets and without the words of the remote service */
                reason: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.user.registration_uncertain.v1
         * @description When nobody knows whether a registration took effect: its response was lost or unclear, or a backup was restored; a person has to decide
         */
        "pv.user.registration_uncertain.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.user.registration_uncertain.v1";
            /** @description The registration; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the registration
                 */
                registrationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed in the request; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Why, without secrets and without the words of the remote service */
                reason: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.user.registration_discarded.v1
         * @description When a person gave up a registration
         */
        "pv.user.registration_discarded.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.user.registration_discarded.v1";
            /** @description The registration; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the registration
                 */
                registrationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed in the request; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Why, without secrets and without the words of the remote service */
                reason: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.user.erased.v1
         * @description When the personal data of a user has been erased
         */
        "pv.user.erased.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.user.erased.v1";
            /** @description The user; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the erasure
                 */
                erasureId: string;
                /**
                 * Format: uuid
                 * @description Null if there were only registrations that had not become a user
                 */
                userId: string | null;
                /** @description The registrations that were deleted */
                registrationIds: string[];
                /**
                 * Format: date-time
                 * @description When the data was erased
                 */
                erasedAt: string;
                /** @description How many rows of each kind were emptied or deleted */
                erased: {
                    /** @description Grid locations */
                    gridLocations: number;
                    /** @description Registrations */
                    registrations: number;
                    /** @description Sessions */
                    sessions: number;
                    /** @description Stored responses of the remote service */
                    observations: number;
                    /** @description Inverters */
                    inverters: number;
                    /** @description Consents of the owner */
                    consents: number;
                    /** @description Events */
                    events: number;
                };
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.started.v1
         * @description When a session exists, and its `startUrl` can be sent to the owner
         */
        "pv.session.started.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.started.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.start_failed.v1
         * @description When a start has failed, so there is no session: the remote service rejected it, could not take it now or gave no usable response, or the process died
         */
        "pv.session.start_failed.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.start_failed.v1";
            /** @description The grid location; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the start, as in `GET /api/v1/onboarding/starts`
                 */
                startId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description How often the start was sent, or was about to be sent */
                attempts: number;
                /** @description How many sessions the remote service may have started whose id nobody knows */
                orphans: number;
                /** @description Why, without secrets and without the words of the remote service */
                reason: string;
                /**
                 * Format: date-time
                 * @description When the start failed
                 */
                failedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.awaiting_owner.v1
         * @description When the session is again as it was at its start, after another state. The start itself is `session.started`
         */
        "pv.session.awaiting_owner.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.awaiting_owner.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.awaiting_installation.v1
         * @description When the owner has probably completed the web flow. Inferred: the remote service has no flag for it
         */
        "pv.session.awaiting_installation.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.awaiting_installation.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.online.v1
         * @description When the remote service reports the session as finished and lists an inverter
         */
        "pv.session.online.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.online.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.expired.v1
         * @description When the remote service reports the session as expired, and it is not online. It may still come online later
         */
        "pv.session.expired.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.expired.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.lost.v1
         * @description When the remote service repeatedly reported that there is no such session
         */
        "pv.session.lost.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.lost.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.unrecognised.v1
         * @description When the interface does not describe this combination of flags. The session is still watched, and nothing is guessed
         */
        "pv.session.unrecognised.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.unrecognised.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.closed.v1
         * @description When the session is no longer watched
         */
        "pv.session.closed.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.closed.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
                /**
                 * @description Why the session was closed
                 * @enum {string}
                 */
                reason: "settled" | "late_window_over" | "lost" | "erased";
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.reopened.v1
         * @description When a closed session is watched again, because a refresh showed activity
         */
        "pv.session.reopened.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.reopened.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.session.flapping.v1
         * @description When the session changes too often to record and announce every change. Announced once, until it has been calm for an hour
         */
        "pv.session.flapping.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.session.flapping.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased */
                inverters: string[];
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.stall.raised.v1
         * @description When something does not continue by itself, or the cause of this has changed. Announced once per cause
         */
        "pv.stall.raised.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.stall.raised.v1";
            /** @description The stalled object; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description What is stalled
                 * @enum {string}
                 */
                kind: "registration" | "start" | "session" | "invitation" | "inverter" | "endpoint";
                /**
                 * Format: uuid
                 * @description Its id; the same as the subject
                 */
                id: string;
                /** @description Why, as in the catalogue of causes */
                cause: string;
                /**
                 * @description Who has to act next
                 * @enum {string}
                 */
                waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
                /**
                 * Format: date-time
                 * @description When the trouble began
                 */
                since: string;
                /** @description What was found, and the threshold, by cause; without the words of the remote service */
                evidence: Record<string, unknown>;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.stall.cleared.v1
         * @description When what was stalled continues, has ended, or was erased
         */
        "pv.stall.cleared.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.stall.cleared.v1";
            /** @description The stalled object; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description What is stalled
                 * @enum {string}
                 */
                kind: "registration" | "start" | "session" | "invitation" | "inverter" | "endpoint";
                /**
                 * Format: uuid
                 * @description Its id; the same as the subject
                 */
                id: string;
                /** @description Why, as in the catalogue of causes */
                cause: string;
                /**
                 * @description Who has to act next
                 * @enum {string}
                 */
                waitsFor: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
                /**
                 * Format: date-time
                 * @description When the trouble began
                 */
                since: string;
                /** @description What was found, and the threshold, by cause; without the words of the remote service */
                evidence: Record<string, unknown>;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.created.v1
         * @description When an owner is invited
         */
        "pv.invitation.created.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.created.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.opened.v1
         * @description When a person has opened the page of an invitation for the first time
         */
        "pv.invitation.opened.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.opened.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.expired.v1
         * @description When the date of an invitation has passed before its owner was done
         */
        "pv.invitation.expired.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.expired.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.revoked.v1
         * @description When an invitation was revoked
         */
        "pv.invitation.revoked.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.revoked.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.declined.v1
         * @description When the owner of an invitation has declined it
         */
        "pv.invitation.declined.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.declined.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
                /**
                 * @description Why; null if not given
                 * @enum {string|null}
                 */
                reason: "not_interested" | "not_mine" | "login_elsewhere" | null;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.renewal_requested.v1
         * @description When the person with a link that no longer works has asked for a new one. Announced once a day
         */
        "pv.invitation.renewal_requested.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.renewal_requested.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
                /** @description Id of the invitation that `INVITATION_RENEWAL=auto` has created for it; null: invite again if you agree */
                newInvitationId: string | null;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.consent.given.v1
         * @description When the owner has agreed to the text above the button, by a click
         */
        "pv.consent.given.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.consent.given.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /** @description The brand that the owner connects; null if the remote service asks for it */
                brand: string | null;
                /** @description The version of the text */
                version: string;
                /** @description SHA-256 of the text, in hex */
                hash: string;
                /** @description The language of the text; null once the user has been erased */
                locale: string | null;
                /**
                 * Format: date-time
                 * @description When the owner clicked
                 */
                givenAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.consent.withdrawn.v1
         * @description When the owner has withdrawn the consent, on the page or as told to the tenant. No session ends by that: ask the provider to disconnect
         */
        "pv.consent.withdrawn.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.consent.withdrawn.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
                /**
                 * @description Who recorded it: the owner on the page, or the tenant by the API
                 * @enum {string}
                 */
                by: "owner" | "tenant";
                /**
                 * Format: date-time
                 * @description When it was recorded
                 */
                withdrawnAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.invitation.reminder_due.v1
         * @description When the owner of an invitation should be reminded of it
         */
        "pv.invitation.reminder_due.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.invitation.reminder_due.v1";
            /** @description The invitation; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the invitation
                 */
                invitationId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description The brands to connect; empty if any */
                brands: string[];
                /** @description The language of the page; null if it is that of the browser */
                locale: string | null;
                /** @description As passed at the invitation; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /** @description Id of the campaign; null if there is none */
                campaignId: string | null;
                /**
                 * Format: date-time
                 * @description After this the owner can no longer begin
                 */
                expiresAt: string;
                /** @description The number of this reminder, from 1 */
                attempt: number;
                /** @description The most reminders of one invitation */
                attempts: number;
                /**
                 * @description Where the owner stands; `expiring_soon` within a day of `expiresAt`; `recovered` once a start is taken for which the owner had to wait
                 * @enum {string}
                 */
                cause: "recovered" | "never_opened" | "opened_not_started" | "started_not_completed" | "expiring_soon";
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.campaign.finished.v1
         * @description When every row of a campaign has a result, or what a cancelled campaign had already sent has one
         */
        "pv.campaign.finished.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.campaign.finished.v1";
            /** @description The campaign; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the campaign
                 */
                campaignId: string;
                /** @description As passed at the upload; null if none was passed */
                name: string | null;
                /** @description How many rows have each result */
                counts: {
                    /** @description Rows that cannot be registered as they are */
                    invalid: number;
                    /** @description Rows whose user this campaign has registered */
                    registered: number;
                    /** @description Rows whose user was already registered with the same EANs */
                    known: number;
                    /** @description Rows whose registration was refused or given up */
                    rejected: number;
                    /** @description Rows of which nobody knows whether their registration took effect */
                    uncertain: number;
                    /** @description Rows that were not sent because the campaign was cancelled or their user erased */
                    cancelled: number;
                };
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.inverter.online.v1
         * @description When the session lists an inverter that it did not list before
         */
        "pv.inverter.online.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.inverter.online.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
                /** @description Id of the inverter; null once the user has been erased */
                inverterId: string | null;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.inverter.missing.v1
         * @description When two reads, 8 minutes apart or more, have not listed an inverter
         */
        "pv.inverter.missing.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.inverter.missing.v1";
            /** @description The session; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the session, here and at the remote service
                 */
                sessionId: string;
                /**
                 * Format: uuid
                 * @description Id of the user, here and at the remote service
                 */
                userId: string;
                /**
                 * Format: uuid
                 * @description Id of the grid location, here and at the remote service
                 */
                gridLocationId: string;
                /** @description Your reference of the user; null once the user has been erased */
                tenantReference: string | null;
                /** @description As passed at the start; null if none was passed */
                brand: string | null;
                /** @description As passed at the start; empty once the user has been erased */
                metadata: {
                    [key: string]: unknown;
                };
                /**
                 * @description The state of the session
                 * @enum {string}
                 */
                state: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                /**
                 * @description The state before; null at the start
                 * @enum {string|null}
                 */
                previousState: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised" | null;
                /**
                 * @description `observed`: the remote service said so; `inferred`: we conclude it
                 * @enum {string}
                 */
                basis: "observed" | "inferred";
                /** @description The name of the rule that determined the state */
                rule: string;
                /** @description How many inverters are currently listed */
                invertersTotal: number;
                /**
                 * Format: date-time
                 * @description When the remote service was read
                 */
                observedAt: string;
                /** @description Id of the inverter; null once the user has been erased */
                inverterId: string | null;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.remote.degraded.v1
         * @description When a replica stopped calling an operation of the remote service after failures, or was asked to wait for a minute in total within 5 minutes
         */
        "pv.remote.degraded.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.remote.degraded.v1";
            /** @description The class of remote operations; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description The class of operations; the same as the subject
                 * @enum {string}
                 */
                operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
                /** @description What went wrong, without secrets */
                reason: string;
                /**
                 * Format: date-time
                 * @description When the trouble began
                 */
                since: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.remote.recovered.v1
         * @description When the condition announced by `remote.degraded` or `remote.credentials_rejected` is over
         */
        "pv.remote.recovered.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.remote.recovered.v1";
            /** @description The class of remote operations; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description The class of operations; the same as the subject
                 * @enum {string}
                 */
                operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
                /**
                 * @description Which condition is over
                 * @enum {string}
                 */
                from: "degraded" | "credentials_rejected";
                /**
                 * Format: date-time
                 * @description When the condition began
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description When the condition ended
                 */
                recoveredAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.remote.credentials_rejected.v1
         * @description When the remote service refuses our credentials or fresh tokens. A person has to correct this
         */
        "pv.remote.credentials_rejected.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.remote.credentials_rejected.v1";
            /** @description The class of remote operations; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description The class of operations; the same as the subject
                 * @enum {string}
                 */
                operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
                /** @description What went wrong, without secrets */
                reason: string;
                /**
                 * Format: date-time
                 * @description When the trouble began
                 */
                since: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.remote.budget_short.v1
         * @description When sessions have wanted, for 15 minutes, more than twice the reads that the budget allows, so that changes are noticed later
         */
        "pv.remote.budget_short.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.remote.budget_short.v1";
            /** @description The class of remote operations; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description The class of operations; the same as the subject
                 * @enum {string}
                 */
                operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
                /** @description By how much all intervals between reads are longer than planned */
                stretch: number;
                /** @description Reads per second that all watched sessions would take without a limit */
                wantedPerSecond: number;
                /** @description Reads per second that can be planned; null if nothing is known to limit them */
                allowedPerSecond: number | null;
                /**
                 * Format: date-time
                 * @description Since when the stretch has been above 2
                 */
                since: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.remote.budget_sufficient.v1
         * @description When the condition announced by `remote.budget_short` is over
         */
        "pv.remote.budget_sufficient.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.remote.budget_sufficient.v1";
            /** @description The class of remote operations; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description The class of operations; the same as the subject
                 * @enum {string}
                 */
                operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
                /** @description By how much all intervals between reads are longer than planned */
                stretch: number;
                /** @description Reads per second that all watched sessions would take without a limit */
                wantedPerSecond: number;
                /** @description Reads per second that can be planned; null if nothing is known to limit them */
                allowedPerSecond: number | null;
                /**
                 * Format: date-time
                 * @description Since when the stretch has been above 2
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description When the condition ended
                 */
                endedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.remote.contract_drift.v1
         * @description When a response of the remote service differs from the interface description. Each kind of difference in a field is announced once
         */
        "pv.remote.contract_drift.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.remote.contract_drift.v1";
            /** @description The class of remote operations; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * @description The class of operations; the same as the subject
                 * @enum {string}
                 */
                operation: "token" | "register_user" | "start_session" | "read_session" | "pass_through";
                /**
                 * @description How the response differs
                 * @enum {string}
                 */
                kind: "new_field" | "missing_field" | "other_type" | "undescribed_flags" | "token_form" | "foreign_id";
                /** @description The path, such as `inverters[].serialNumber`; for `undescribed_flags`, the flags */
                field: string;
                /** @description The type in the description, never a value; null if there is none */
                expected: string | null;
                /** @description The type in the response, never a value; for `foreign_id`, the kind of object that the id belongs to; null if there is none */
                found: string | null;
                /**
                 * Format: date-time
                 * @description When the difference was observed
                 */
                observedAt: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.webhook_endpoint.disabled.v1
         * @description When a webhook endpoint is disabled, because it returned 410 or only failures for days
         */
        "pv.webhook_endpoint.disabled.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.webhook_endpoint.disabled.v1";
            /** @description The webhook endpoint; events of one subject are in order */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description Position in the feed: sorts as text in the order of the feed */
            sequence: string;
            data: {
                /**
                 * Format: uuid
                 * @description Id of the endpoint
                 */
                endpointId: string;
                /**
                 * @description `gone`: it returned 410; `failing`: only failures for days
                 * @enum {string}
                 */
                reason: "gone" | "failing";
                /**
                 * Format: date-time
                 * @description When the failures began
                 */
                since: string;
            };
            /** @description The trace of the event (W3C Trace Context); absent unless the deployment exports traces */
            traceparent?: string;
        };
        /**
         * pv.webhook_endpoint.test.v1
         * @description When a test is requested: POST /api/v1/webhook-endpoints/{id}/test
         */
        "pv.webhook_endpoint.test.v1": {
            /** @constant */
            specversion: "1.0";
            /**
             * Format: uuid
             * @description The same in every delivery
             */
            id: string;
            /**
             * Format: uri-reference
             * @description `EVENT_SOURCE` of the deployment
             */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "pv.webhook_endpoint.test.v1";
            /** @description The id of the webhook endpoint */
            subject: string;
            /**
             * Format: date-time
             * @description When the fact was recorded
             */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            data: {
                /**
                 * Format: uuid
                 * @description Id of the endpoint
                 */
                endpointId: string;
            };
        };
        /** @description Any event of the feed. Ignore events of an unknown `type` */
        FeedEvent: components["schemas"]["pv.user.registered.v1"] | components["schemas"]["pv.user.registration_pending.v1"] | components["schemas"]["pv.user.registration_rejected.v1"] | components["schemas"]["pv.user.registration_uncertain.v1"] | components["schemas"]["pv.user.registration_discarded.v1"] | components["schemas"]["pv.user.erased.v1"] | components["schemas"]["pv.session.started.v1"] | components["schemas"]["pv.session.start_failed.v1"] | components["schemas"]["pv.session.awaiting_owner.v1"] | components["schemas"]["pv.session.awaiting_installation.v1"] | components["schemas"]["pv.session.online.v1"] | components["schemas"]["pv.session.expired.v1"] | components["schemas"]["pv.session.lost.v1"] | components["schemas"]["pv.session.unrecognised.v1"] | components["schemas"]["pv.session.closed.v1"] | components["schemas"]["pv.session.reopened.v1"] | components["schemas"]["pv.session.flapping.v1"] | components["schemas"]["pv.stall.raised.v1"] | components["schemas"]["pv.stall.cleared.v1"] | components["schemas"]["pv.invitation.created.v1"] | components["schemas"]["pv.invitation.opened.v1"] | components["schemas"]["pv.invitation.expired.v1"] | components["schemas"]["pv.invitation.revoked.v1"] | components["schemas"]["pv.invitation.declined.v1"] | components["schemas"]["pv.invitation.renewal_requested.v1"] | components["schemas"]["pv.consent.given.v1"] | components["schemas"]["pv.consent.withdrawn.v1"] | components["schemas"]["pv.invitation.reminder_due.v1"] | components["schemas"]["pv.campaign.finished.v1"] | components["schemas"]["pv.inverter.online.v1"] | components["schemas"]["pv.inverter.missing.v1"] | components["schemas"]["pv.remote.degraded.v1"] | components["schemas"]["pv.remote.recovered.v1"] | components["schemas"]["pv.remote.credentials_rejected.v1"] | components["schemas"]["pv.remote.budget_short.v1"] | components["schemas"]["pv.remote.budget_sufficient.v1"] | components["schemas"]["pv.remote.contract_drift.v1"] | components["schemas"]["pv.webhook_endpoint.disabled.v1"];
        /** @description Any event, including the test event. Ignore events of an unknown `type` */
        Event: components["schemas"]["pv.user.registered.v1"] | components["schemas"]["pv.user.registration_pending.v1"] | components["schemas"]["pv.user.registration_rejected.v1"] | components["schemas"]["pv.user.registration_uncertain.v1"] | components["schemas"]["pv.user.registration_discarded.v1"] | components["schemas"]["pv.user.erased.v1"] | components["schemas"]["pv.session.started.v1"] | components["schemas"]["pv.session.start_failed.v1"] | components["schemas"]["pv.session.awaiting_owner.v1"] | components["schemas"]["pv.session.awaiting_installation.v1"] | components["schemas"]["pv.session.online.v1"] | components["schemas"]["pv.session.expired.v1"] | components["schemas"]["pv.session.lost.v1"] | components["schemas"]["pv.session.unrecognised.v1"] | components["schemas"]["pv.session.closed.v1"] | components["schemas"]["pv.session.reopened.v1"] | components["schemas"]["pv.session.flapping.v1"] | components["schemas"]["pv.stall.raised.v1"] | components["schemas"]["pv.stall.cleared.v1"] | components["schemas"]["pv.invitation.created.v1"] | components["schemas"]["pv.invitation.opened.v1"] | components["schemas"]["pv.invitation.expired.v1"] | components["schemas"]["pv.invitation.revoked.v1"] | components["schemas"]["pv.invitation.declined.v1"] | components["schemas"]["pv.invitation.renewal_requested.v1"] | components["schemas"]["pv.consent.given.v1"] | components["schemas"]["pv.consent.withdrawn.v1"] | components["schemas"]["pv.invitation.reminder_due.v1"] | components["schemas"]["pv.campaign.finished.v1"] | components["schemas"]["pv.inverter.online.v1"] | components["schemas"]["pv.inverter.missing.v1"] | components["schemas"]["pv.remote.degraded.v1"] | components["schemas"]["pv.remote.recovered.v1"] | components["schemas"]["pv.remote.credentials_rejected.v1"] | components["schemas"]["pv.remote.budget_short.v1"] | components["schemas"]["pv.remote.budget_sufficient.v1"] | components["schemas"]["pv.remote.contract_drift.v1"] | components["schemas"]["pv.webhook_endpoint.disabled.v1"] | components["schemas"]["pv.webhook_endpoint.test.v1"];
    };
    responses: {
        /** @description `invalid_request`: A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them. */
        invalid_request: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request";
                };
            };
        };
        /** @description `request_timeout`: The headers were not complete within 10 seconds, or the whole request within 30, or a file of a campaign comes with less than 16 kB per second after a minute. Nothing was done; send the request again. */
        request_timeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "request_timeout";
                };
            };
        };
        /** @description `headers_too_large`: All headers of a request together must be smaller than 16 kB. */
        headers_too_large: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "headers_too_large";
                };
            };
        };
        /** @description `internal_error`: A fault of this service. It is logged with the `requestId`; give this id to the operator. */
        internal_error: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "internal_error";
                };
            };
        };
        /** @description `unauthenticated`: There is no key in `Authorization: Bearer`, or it is malformed, unknown or revoked. */
        unauthenticated: {
            headers: {
                /** @description The scheme to use: `Bearer` */
                "WWW-Authenticate"?: string;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "unauthenticated";
                };
            };
        };
        /** @description `too_many_requests`: The key makes more than `API_MAX_REQUESTS_PER_SECOND` requests, or has a third of the streams and reads with `wait` open that a replica allows, or uploads or downloads two files, or tests a webhook endpoint to which all requests that it may have are in flight, or this address makes too many requests without a valid key. Nothing was done; send the request again after `Retry-After` seconds. */
        too_many_requests: {
            headers: {
                /** @description Seconds to wait before the next request */
                "Retry-After"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "too_many_requests";
                };
            };
        };
        /** @description `database_unavailable`: The database is restarting or overloaded. Send the request again after `Retry-After` seconds. */
        database_unavailable: {
            headers: {
                /** @description Seconds to wait before the next request */
                "Retry-After"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "database_unavailable";
                };
            };
        };
        /** @description `not_found`: Nothing has this id or this path. A user registered at the remote service by other means is not known here. */
        not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "not_found";
                };
            };
        };
        /**
         * @description `invalid_request`: A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them.
         *
         *     `invalid_json`: The body has a syntax error, is not valid UTF-8, repeats a name within an object, or has more than 64 levels of nesting, 1,000 names in an object or 5,000 names and elements.
         *
         *     `ean_rounded`: An EAN has the digits of a rounded number and a wrong check digit. `errors` names each of them. Nothing was done; send all digits as strings, or `eanConfirmed: true` if they are right.
         */
        "invalid_request-or-invalid_json-or-ean_rounded": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "invalid_json" | "ean_rounded";
                };
            };
        };
        /** @description `forbidden`: The key is valid, but was created without the scope that `detail` names. */
        forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "forbidden";
                };
            };
        };
        /** @description `body_too_large`: A body has at most 262,144 bytes. The file of a campaign has at most `CAMPAIGN_MAX_BYTES` and 250,000 rows. */
        body_too_large: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "body_too_large";
                };
            };
        };
        /** @description `unsupported_media_type`: Bodies are JSON in UTF-8, not compressed, sent with `content-type: application/json`. The file of a campaign is CSV or NDJSON, neither compressed nor an Excel workbook. */
        unsupported_media_type: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "unsupported_media_type";
                };
            };
        };
        /**
         * @description `remote_rejected`: The remote service refused the request and did nothing; `detail` has the status. If a registration was refused, `registrationId` names it. The same request would be refused again.
         *
         *     `idempotency_key_reused`: In the last 24 hours the same `Idempotency-Key` was sent to this route with another body, or its person has been erased since. Nothing was done; send a new key with a new request.
         */
        "remote_rejected-or-idempotency_key_reused": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "remote_rejected" | "idempotency_key_reused";
                };
            };
        };
        /**
         * @description `invalid_request`: A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them.
         *
         *     `invalid_json`: The body has a syntax error, is not valid UTF-8, repeats a name within an object, or has more than 64 levels of nesting, 1,000 names in an object or 5,000 names and elements.
         */
        "invalid_request-or-invalid_json": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "invalid_json";
                };
            };
        };
        /** @description `registration_conflict`: The registration is being sent, was changed in the meantime, or has a status that does not allow this; read it under `registrationId`. If `errors` names ids in the body of `resolve`, they belong to another user in our database. */
        registration_conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "registration_conflict";
                };
            };
        };
        /**
         * @description `database_unavailable`: The database is restarting or overloaded. Send the request again after `Retry-After` seconds.
         *
         *     `remote_unavailable`: It did not respond, returned an unusable response, limits our requests, or refuses our credentials. Send the request again after `Retry-After` seconds.
         *
         *     `replica_busy`: Streams of events and reads with `wait` may use half of the connections of a replica, and it receives at most 4 files at a time. Send the request again after `Retry-After` seconds, or to another replica.
         */
        "database_unavailable-or-remote_unavailable-or-replica_busy": {
            headers: {
                /** @description Seconds to wait before the next request */
                "Retry-After"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "database_unavailable" | "remote_unavailable" | "replica_busy";
                };
            };
        };
        /** @description `session_closed`: The user of the session `sessionId` has been erased, so the session is no longer read. */
        session_closed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "session_closed";
                };
            };
        };
        /** @description `idempotency_key_reused`: In the last 24 hours the same `Idempotency-Key` was sent to this route with another body, or its person has been erased since. Nothing was done; send a new key with a new request. */
        idempotency_key_reused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "idempotency_key_reused";
                };
            };
        };
        /**
         * @description `database_unavailable`: The database is restarting or overloaded. Send the request again after `Retry-After` seconds.
         *
         *     `remote_unavailable`: It did not respond, returned an unusable response, limits our requests, or refuses our credentials. Send the request again after `Retry-After` seconds.
         */
        "database_unavailable-or-remote_unavailable": {
            headers: {
                /** @description Seconds to wait before the next request */
                "Retry-After"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "database_unavailable" | "remote_unavailable";
                };
            };
        };
        /**
         * @description `database_unavailable`: The database is restarting or overloaded. Send the request again after `Retry-After` seconds.
         *
         *     `replica_busy`: Streams of events and reads with `wait` may use half of the connections of a replica, and it receives at most 4 files at a time. Send the request again after `Retry-After` seconds, or to another replica.
         */
        "database_unavailable-or-replica_busy": {
            headers: {
                /** @description Seconds to wait before the next request */
                "Retry-After"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "database_unavailable" | "replica_busy";
                };
            };
        };
        /** @description `webhook_endpoint_limit`: A deployment has at most 40. Delete those that are not needed; one endpoint takes events of every type. */
        webhook_endpoint_limit: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "webhook_endpoint_limit";
                };
            };
        };
        /** @description `invitation_conflict`: The invitation is over, or its owner has nothing to do at the moment; `detail` says which. Only `expiresAt` makes one that has expired valid again, unless its location has another. */
        invitation_conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "invitation_conflict";
                };
            };
        };
        /**
         * @description `invalid_request`: A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them.
         *
         *     `invalid_json`: The body has a syntax error, is not valid UTF-8, repeats a name within an object, or has more than 64 levels of nesting, 1,000 names in an object or 5,000 names and elements.
         *
         *     `campaign_empty`: The file of a campaign is empty, or has a header and no rows. Nothing was stored.
         *
         *     `campaign_columns`: The header of the file lacks `tenantReference` or `ean`, has a column that is not known, the same column twice, or more than 200. Nothing was stored.
         *
         *     `campaign_unreadable`: The file has a quote that does not end, a byte that is not text, more than one encoding, or ended early. `detail` names the line and the column. Nothing was stored.
         *
         *     `campaign_rounded`: Most EANs of the file, or most of its references of 16 digits and more, look rounded. `detail` names the first lines and the programs that write numbers so. Nothing was stored.
         */
        "invalid_request-or-invalid_json-or-campaign_empty-or-campaign_columns-or-campaign_unreadable-or-campaign_rounded": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "invalid_json" | "campaign_empty" | "campaign_columns" | "campaign_unreadable" | "campaign_rounded";
                };
            };
        };
        /** @description `campaign_conflict`: Only a running campaign can be paused, only a paused one resumed, only one of these cancelled, and only one that has ended deleted; `detail` names its status. */
        campaign_conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "campaign_conflict";
                };
            };
        };
        /** @description `stall_over`: It was stalled before and is not any more, so there is nothing to work on; `detail` says since when. Read the list again. */
        stall_over: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemView"] & {
                    /** @enum {unknown} */
                    code?: "stall_over";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The X-Request-Id of the request, or a generated one. Log lines about the request have it too */
        "X-Request-Id": string;
        /** @description Requests left (`r`) of the named quota, and seconds (`t`) until all are available */
        RateLimit: string;
        /** @description The quota (`q`) per window of `w` seconds, as in draft-ietf-httpapi-ratelimit-headers */
        "RateLimit-Policy": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LivenessView"];
                };
            };
            400: components["responses"]["invalid_request"];
            408: components["responses"]["request_timeout"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The database has every migration and commits writes */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadinessView"];
                };
            };
            400: components["responses"]["invalid_request"];
            408: components["responses"]["request_timeout"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            /** @description Not ready: `missing` has the reasons */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadinessView"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    getProblem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemKindView"];
                };
            };
            400: components["responses"]["invalid_request"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                /** @description Only items with this reference */
                tenantReference?: string;
                /** @description Only items with this EAN */
                ean?: string;
                /** @description Only items whose metadata contain all these values: `metadata.campaign=autumn`. Only top-level keys can be given. `5`, `true` and `null` match the JSON value and the text. */
                metadata?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["UserView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    registerUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterUserInput"];
            };
        };
        responses: {
            /** @description Already registered, with the same EANs */
            200: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredUserView"];
                };
            };
            /** @description Registered by this request */
            201: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredUserView"];
                };
            };
            /** @description The registration, which is undecided. `Location` is its path */
            202: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    /** @description Seconds to wait before the next request */
                    "Retry-After"?: number;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenRegistrationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json-or-ean_rounded"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            /**
             * @description `tenant_reference_conflict`: A tenantReference has one live registration. Nothing was sent to the remote service; read the registration `registrationId` to see which EANs it has. If it became a user, `userId` is that user.
             *
             *     `registration_conflict`: The registration is being sent, was changed in the meantime, or has a status that does not allow this; read it under `registrationId`. If `errors` names ids in the body of `resolve`, they belong to another user in our database.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "tenant_reference_conflict" | "registration_conflict";
                    };
                };
            };
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["remote_rejected-or-idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            /** @description `not_found`: Nothing has this id or this path. A user registered at the remote service by other means is not known here. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "not_found";
                    };
                };
            };
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    eraseUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receipt, the same for every repetition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureReceiptView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["registration_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listRegistrations: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                /** @description Only items with this reference */
                tenantReference?: string;
                /** @description Only items with this EAN */
                ean?: string;
                /** @description Only items whose metadata contain all these values: `metadata.campaign=autumn`. Only top-level keys can be given. `5`, `true` and `null` match the JSON value and the text. */
                metadata?: {
                    [key: string]: string;
                };
                /** @description Only registrations in this status */
                status?: "pending" | "registered" | "rejected" | "uncertain" | "discarded";
                /** @description Only registrations created at or after this instant */
                createdSince?: string;
                /** @description Only registrations created before this instant */
                createdBefore?: string;
                /** @description Only registrations whose `lastError` contains this text */
                lastError?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RegistrationView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readRegistration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegistrationView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                state?: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
                userId?: string;
                gridLocationId?: string;
                tenantReference?: string;
                brand?: string;
                /** @description Sessions whose record changed at or after this instant */
                updatedSince?: string;
                /** @description Sessions that were started at or after this instant, by their `createdAt` */
                createdSince?: string;
                /** @description Sessions that were started before this instant, by their `createdAt` */
                startedBefore?: string;
                /** @description Sessions whose `expiresAt` is before this instant, whatever their state */
                expiresBefore?: string;
                /** @description Sessions that are stalled for this cause, or for any */
                stalled?: "lost" | "unwatched" | "refused" | "too_many_inverters" | "unrecognised" | "remote_unreachable" | "flapping" | "expiry_ignored" | "all_inverters_missing" | "some_inverters_missing" | "completed_not_online" | "expiring_soon" | "started_not_completed" | "any";
                /** @description Only items whose metadata contain all these values: `metadata.campaign=autumn`. Only top-level keys can be given. `5`, `true` and `null` match the JSON value and the text. */
                metadata?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SessionView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readSessionOfUser: {
        parameters: {
            query?: {
                /** @description Seconds; if our copy is older, the remote service is read first */
                maxAge?: number;
                /** @description With `maxAge`: if the remote service cannot be read, respond with our copy instead of 503 `remote_unavailable`; `stale` of the response is then true */
                stale?: "allow";
                /** @description Seconds; respond as soon as the state changes, at the latest after this time */
                wait?: number;
                /** @description With `wait`: the state that you know. If the session has another state, the response is immediate, so no change between two requests is missed. Default: the current state */
                from?: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
            };
            header?: never;
            path: {
                userId: string;
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable-or-remote_unavailable-or-replica_busy"];
        };
    };
    refreshSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current session */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["session_closed"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable-or-remote_unavailable"];
        };
    };
    listStarts: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                gridLocationId?: string;
                userId?: string;
                /** @description Only starts in this status */
                status?: "sending" | "started" | "failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["StartView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listInverters: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                userId?: string;
                gridLocationId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["InverterView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readInverter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InverterView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listTimeline: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
            };
            header?: never;
            path: {
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["TimelineEntryView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page, or the `sequence` of an event. Default: the beginning of the feed */
                after?: string;
                /** @description Only events of these types, separated by commas: `session.online` or `pv.session.online.v1`. Default: all */
                types?: string;
                /** @description Only events about this session */
                sessionId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events after `after`, in order, and `next`, the next cursor */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description The `sequence` of an event, or a `next` of the feed; the stream starts after it. `0` is the beginning. Default without `Last-Event-ID`: the newest event */
                after?: string;
                /** @description Only events of these types, separated by commas: `session.online` or `pv.session.online.v1`. Default: all */
                types?: string;
                /** @description Only events about this session */
                sessionId?: string;
            };
            header?: {
                /** @description The last `id` received; the stream starts after it. Overrides `after` */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An endless stream of events */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable-or-replica_busy"];
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WebhookEndpointView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhookEndpoint"];
            };
        };
        responses: {
            /** @description The endpoint with its secret, which is shown only once */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhookEndpointView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["webhook_endpoint_limit"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. After at most one second, no more events are sent to it */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    changeWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedSecretView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result, whether the attempt succeeded or failed */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTestView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                endpointId?: string;
                status?: "pending" | "delivered" | "failed";
                /** @description Only deliveries with an attempt, or only those without */
                tried?: "true" | "false";
                /** @description The `id` of the event, which is the `webhook-id` */
                eventId?: string;
                /** @description Only events about this subject, such as the id of a session or user */
                subject?: string;
                /** @description Only deliveries created at or after this instant */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WebhookDeliveryView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDetailView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pending delivery */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDetailView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    redeliverToWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedeliveryRequest"];
            };
        };
        responses: {
            /** @description The number of pending events, and the next cursor */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedeliveryView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                state?: "invited" | "opened" | "started" | "owner_done" | "online" | "expired" | "declined" | "revoked";
                gridLocationId?: string;
                tenantReference?: string;
                campaignId?: string;
                /** @description Invitations that are stalled for this cause, or for any */
                stalled?: "consent_withdrawn" | "remote_unreachable" | "completed_not_online" | "unreachable" | "renewal_requested" | "expiring_soon" | "started_not_completed" | "never_opened" | "opened_not_started" | "any";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["InvitationView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            /** @description The live invitation */
            200: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            201: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    changeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["invitation_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readInvitationLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationLinkView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readInvitationQrCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    createInvitationCode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationCodeView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["invitation_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    remindOwner: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            /** @description `invitation_conflict`: The invitation is over, or its owner has nothing to do at the moment; `detail` says which. Only `expiresAt` makes one that has expired valid again, unless its location has another. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "invitation_conflict";
                    };
                };
            };
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    recordInvitationMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationMessage"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    withdrawConsent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            /** @description `invitation_conflict`: The invitation is over, or its owner has nothing to do at the moment; `detail` says which. Only `expiresAt` makes one that has expired valid again, unless its location has another. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "invitation_conflict";
                    };
                };
            };
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readFunnel: {
        parameters: {
            query?: {
                /** @description Invitations created at or after this instant. Default: the beginning, in UTC, of the day 30 days before `to` */
                from?: string;
                /** @description Invitations created before this instant. Default: now */
                to?: string;
                /** @description Default: day */
                by?: "day" | "brand" | "campaign";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FunnelPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listBrands: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrandsPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readCase: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readCustomers: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                /** @description Only customers of whom something is stalled and waits for these, the longest stalled first */
                waitsFor?: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
                /** @description Only customers of whom something is stalled for this cause, the longest stalled first */
                cause?: string;
                /** @description Only customers of this campaign */
                campaignId?: string;
                /** @description Only customers with a session of this brand; with `waitsFor` or `cause`, of whom something of this brand is stalled */
                brand?: string;
                /** @description The customer with this reference, in the place of a list */
                tenantReference?: string;
                /** @description The customers with this EAN, in the place of a list */
                ean?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. With `tenantReference` or `ean`: the customers */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ListedCustomerView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    } | components["schemas"]["CustomersView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchTerm"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listCampaigns: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                status?: "checked" | "running" | "paused" | "cancelled" | "finished";
                /** @description Only dry runs, or only campaigns that are none. Default: both */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["CampaignSummaryView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    createCampaign: {
        parameters: {
            query?: {
                /** @description Your name for the campaign */
                name?: string;
                /** @description Whether the file is only checked, and nobody is registered. Default: false */
                dryRun?: boolean;
                /** @description Whether the owners of the registered grid locations are invited. Default: false */
                invite?: boolean;
                /** @description Whether the rows, as NDJSON, are users and sessions that exist at the remote service. Default: false */
                adopt?: boolean;
                /** @description Whether the references of 16 digits and more are right, although most look rounded. Default: false */
                referencesConfirmed?: boolean;
                /** @description The encoding of the file. Default: the `charset` of the Content-Type, else it is detected. A byte order mark precedes it */
                encoding?: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "cp850" | "macintosh";
                /** @description What the columns become that have names of their own, as NAME:FIELD pairs: `Klantnummer:tenantReference,EAN-code:ean`. A column without a field (`Straat:`) is left out. At most 4,000 characters */
                columns?: string;
            };
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/csv": string;
                "application/x-ndjson": string;
                "multipart/form-data": string;
            };
        };
        responses: {
            202: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json-or-campaign_empty-or-campaign_columns-or-campaign_unreadable-or-campaign_rounded"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable-or-replica_busy"];
        };
    };
    readCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    deleteCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["campaign_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listCampaignRows: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                status?: "accepted" | "invalid" | "registered" | "known" | "rejected" | "uncertain" | "cancelled";
                problem?: "required" | "reference_invalid" | "reference_rounded" | "reference_normalised" | "reference_alike" | "reference_shared" | "reference_erased" | "owner_declined" | "ean_invalid" | "ean_length" | "ean_rounded" | "ean_perhaps_rounded" | "ean_check_digit" | "ean_elsewhere" | "ean_in_other_column" | "brand_invalid" | "brand_alike" | "locale_unknown" | "inverters_invalid" | "metadata_invalid" | "json_invalid" | "too_many_cells" | "cell_has_rows" | "row_too_long" | "duplicate_row" | "row_contradicts" | "too_many_eans" | "reference_conflict" | "other_row_invalid" | "registration_rejected" | "registration_discarded" | "registration_uncertain" | "adopt_invalid" | "adopt_contradicts" | "session_not_read";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["CampaignRowView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readCampaignResult: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    pauseCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            /** @description `campaign_conflict`: Only a running campaign can be paused, only a paused one resumed, only one of these cancelled, and only one that has ended deleted; `detail` names its status. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "campaign_conflict";
                    };
                };
            };
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    resumeCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["campaign_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    cancelCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["campaign_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ApiKeyView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description The key. It is shown only once */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKeyView"];
                };
            };
            /**
             * @description `invalid_request`: A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them.
             *
             *     `invalid_json`: The body has a syntax error, is not valid UTF-8, repeats a name within an object, or has more than 64 levels of nesting, 1,000 names in an object or 5,000 names and elements.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "invalid_request" | "invalid_json";
                    };
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is revoked; every replica refuses it within 5 seconds */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                /** @description Only what was done to these: at most 100 ids, separated by commas. Default: everything */
                targets?: string;
                /** @description Only what this actor did, with requests or in the console, such as `key:` and the id of a key */
                actor?: string;
                /** @description Only this action, such as `user.erased` */
                action?: string;
                /** @description Only at or after this instant */
                since?: string;
                /** @description Only before this instant */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AuditEntryView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    listStalled: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description The `next` of the previous page. Default: the first page */
                cursor?: string;
                /** @description Only this kind */
                kind?: "registration" | "start" | "session" | "invitation" | "inverter" | "endpoint";
                /** @description Only this cause, of any kind */
                cause?: string;
                /** @description Only what waits for these */
                waitsFor?: "owner" | "installation" | "remote_service" | "tenant" | "us" | "nobody";
                /** @description Only customers of this campaign */
                campaignId?: string;
                /** @description Only this brand */
                brand?: string;
                /** @description Only this grid location */
                gridLocationId?: string;
                /** @description Only the customer with this reference */
                tenantReference?: string;
                /** @description Only trouble that began at or after this instant */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. To get the next page, send `next` as `cursor`, until it is null */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["StalledItemView"][];
                        /** @description The `cursor` of the next page; null when this is the last */
                        next: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    groupStalled: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StalledGroupsView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    workOnStalled: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StallChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StalledItemView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["stall_over"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    retryRegistration: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DecisionCondition"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegistrationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            /** @description `registration_conflict`: The registration is being sent, was changed in the meantime, or has a status that does not allow this; read it under `registrationId`. If `errors` names ids in the body of `resolve`, they belong to another user in our database. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemView"] & {
                        /** @enum {unknown} */
                        code?: "registration_conflict";
                    };
                };
            };
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    discardRegistration: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DecisionCondition"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegistrationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["registration_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    resolveRegistration: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmedUserInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegistrationView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json-or-ean_rounded"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["registration_conflict"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    decideRegistrations: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkDecision"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionsView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    createBulkAction: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBulkAction"];
            };
        };
        responses: {
            202: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkActionView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readBulkAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkActionView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    getStatusHistory: {
        parameters: {
            query?: {
                /** @description How far back, in hours */
                hours?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusHistoryView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    probeCredentials: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result, whether there is a token or not */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialsProbeView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    exportUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document, streamed */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserExportView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable"];
        };
    };
    readSession: {
        parameters: {
            query?: {
                /** @description Seconds; if our copy is older, the remote service is read first */
                maxAge?: number;
                /** @description With `maxAge`: if the remote service cannot be read, respond with our copy instead of 503 `remote_unavailable`; `stale` of the response is then true */
                stale?: "allow";
                /** @description Seconds; respond as soon as the state changes, at the latest after this time */
                wait?: number;
                /** @description With `wait`: the state that you know. If the session has another state, the response is immediate, so no change between two requests is missed. Default: the current state */
                from?: "awaiting_owner" | "awaiting_installation" | "online" | "expired" | "lost" | "unrecognised";
            };
            header?: never;
            path: {
                /** @description The `sessionId`. It is named `id`, because OpenAPI allows one parameter name for a path that several operations share */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable-or-remote_unavailable-or-replica_busy"];
        };
    };
    startSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The `gridLocationId`. It is named `id`, because OpenAPI allows one parameter name for a path that several operations share */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewSession"];
            };
        };
        responses: {
            /** @description The session that is open or online */
            200: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            /** @description Started */
            201: {
                headers: {
                    /** @description Path of the resource in the body */
                    Location: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            400: components["responses"]["invalid_request-or-invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["body_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["remote_rejected-or-idempotency_key_reused"];
            429: components["responses"]["too_many_requests"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["database_unavailable-or-remote_unavailable"];
        };
    };
    receiveEvent: {
        parameters: {
            query?: never;
            header: {
                /** @description The `id` of the event, the same in every attempt */
                "webhook-id": string;
                /** @description When the attempt was made, in seconds since 1970 */
                "webhook-timestamp": string;
                /** @description One `v1,` signature for each valid secret, separated by spaces */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cloudevents+json": components["schemas"]["Event"];
            };
        };
        responses: {
            /** @description The endpoint no longer exists: the service disables it */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not received: the event is sent again according to the retry schedule */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
