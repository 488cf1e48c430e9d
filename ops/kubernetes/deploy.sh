#!/bin/sh
# Deploys a release, or a change of a setting, from the overlay in $1 (default: overlays/mine). The first `apply` leaves out api and workers,
# so that the database is migrated before they start. If the migration fails, the script prints its log and ends, and the replicas stay.
set -e
cd "$(dirname "$0")"
overlay=${1:-overlays/mine}
job=pv-onboarding-migration
kubectl -n pv-onboarding delete job $job --ignore-not-found
kubectl apply -k "$overlay" -l 'app.kubernetes.io/component!=api,app.kubernetes.io/component!=worker'
while true; do
  conditions=$(kubectl -n pv-onboarding get job $job -o 'jsonpath={.status.conditions[?(@.status=="True")].type}')
  case " $conditions " in
  *' Complete '*) break ;;
  *' Failed '*) kubectl -n pv-onboarding logs job/$job --tail=50; exit 1 ;;
  esac
  sleep 2
done
kubectl apply -k "$overlay"
kubectl -n pv-onboarding rollout status deploy -l app.kubernetes.io/name=pv-onboarding
